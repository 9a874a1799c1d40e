#include "config/document.hpp"

#include <algorithm>
#include <optional>
#include <stdexcept>
#include <tuple>
#include <utility>
#include <vector>

#include "stet/error.hpp"

// toml++ 3.3 asserts where a text is wrong in an unusual way ("[\0a]"), and without assertions it would go on
// into undefined behaviour. A running gateway must survive such a file at a reload, so an assertion is an
// exception here, in every build.
#undef NDEBUG
#define TOML_ASSERT(expr) \
  if (!(expr)) throw std::logic_error("a text that cannot be understood")
#define TOML_EXCEPTIONS 1
#define TOML_HEADER_ONLY 1
#include <toml++/toml.h>

namespace stet::config {
namespace {

// More syntax errors than this are one big one.
constexpr int kMaxSyntaxErrors = 20;
// Nobody's configuration is larger; the parser's memory is a multiple of the text.
constexpr std::size_t kMaxText = 4 << 20;

struct Naming {
  const std::string& source;
  bool lines = true;  // a setting of the command line has none
  Place at(const toml::source_region& region) const {
    if (!lines) return {source, 0, 0};
    return {source, region.begin.line, region.begin.column};
  }
};

Value convert(const toml::node& node, const Naming& naming);

Value convert_table(const toml::table& table, const Naming& naming) {
  Value value;
  value.kind = Value::Kind::table;
  value.place = naming.at(table.source());
  for (const auto& [key, child] : table)
    value.members.push_back({std::string(key.str()), naming.at(key.source()), convert(child, naming)});
  std::sort(value.members.begin(), value.members.end(), [](const Member& a, const Member& b) {
    return std::tie(a.place.line, a.place.column, a.key) < std::tie(b.place.line, b.place.column, b.key);
  });
  return value;
}

Value convert(const toml::node& node, const Naming& naming) {
  if (const auto* table = node.as_table()) return convert_table(*table, naming);
  Value value;
  value.place = naming.at(node.source());
  if (const auto* array = node.as_array()) {
    value.kind = Value::Kind::array;
    for (const toml::node& item : *array) value.items.push_back(convert(item, naming));
  } else if (const auto* string = node.as_string()) {
    value.kind = Value::Kind::string;
    value.text = string->get();
  } else if (const auto* integer = node.as_integer()) {
    value.kind = Value::Kind::integer;
    value.integer = integer->get();
  } else if (const auto* boolean = node.as_boolean()) {
    value.kind = Value::Kind::boolean;
    value.boolean = boolean->get();
  } else {
    value.kind = node.is_floating_point() ? Value::Kind::real : Value::Kind::date;
  }
  return value;
}

struct SyntaxError {
  std::string what;
  std::uint32_t line = 0, column = 0;  // 0: not known
};

Expected<toml::table, SyntaxError> parse(std::string_view text) {
  try {
    return toml::parse(text);
  } catch (const toml::parse_error& error) {
    const toml::source_position& at = error.source().begin;
    return unexpected(SyntaxError{std::string(error.description()), at.line, at.column});
  } catch (const std::logic_error& assertion) {
    return unexpected(SyntaxError{assertion.what(), 0, 0});
  }
}

// TOML allows tabs and line ends; the parser's own check of the others is not complete.
std::optional<Place> control_character(std::string_view text, const std::string& source) {
  std::uint32_t line = 1, column = 1;
  for (std::size_t i = 0; i < text.size(); ++i, ++column) {
    const char c = text[i];
    const bool line_end = c == '\n' || (c == '\r' && i + 1 < text.size() && text[i + 1] == '\n');
    if (!line_end && c != '\t' && ((c >= 0 && c < ' ') || c == 0x7f)) return Place{source, line, column};
    if (c == '\n') {
      ++line;
      column = 0;
    }
  }
  return std::nullopt;
}

// No key of ours has more parts than three. Each part is a table in a table, and reading and freeing those
// recurse.
constexpr std::size_t kMostDots = 16;

// The line (from 1) with a dotted key deeper than that, or 0. Looks at the bare text, before it is parsed.
std::uint32_t line_of_deep_key(std::string_view text) {
  std::uint32_t line = 1;
  std::size_t dots = 0;
  char quote = 0;
  for (const char c : text) {
    if (c == '\n') {
      ++line;
      quote = 0;
      dots = 0;
    } else if (quote != 0) {
      if (c == quote) quote = 0;
    } else if (c == '"' || c == '\'') {
      quote = c;
    } else if (c == '.') {
      if (++dots > kMostDots) return line;
    } else if (c == '=' || c == ',' || c == '[' || c == ']' || c == '{' || c == '}' || c == '#') {
      dots = 0;
    }
  }
  return 0;
}

// The line with that number (from 1) turned into an empty one. Nothing when it is not safe to go on without
// it: a table's header, whose keys would fall into the table before.
bool blank_line(std::string& text, std::uint32_t number) {
  std::size_t begin = 0;
  for (std::uint32_t line = 1; line < number; ++line) {
    const std::size_t end = text.find('\n', begin);
    if (end == std::string::npos) return false;
    begin = end + 1;
  }
  const std::size_t end = std::min(text.find('\n', begin), text.size());
  const std::size_t first = text.find_first_not_of(" \t", begin);
  if (first == std::string::npos || first >= end || text[first] == '[') return false;
  const std::string_view line = std::string_view(text).substr(begin, end - begin);
  if (line.find("\"\"\"") != line.npos || line.find("'''") != line.npos) return false;
  text.erase(begin, end - begin);
  return true;
}

}  // namespace

const Value* Value::find(std::string_view key) const {
  for (const Member& member : members)
    if (member.key == key) return &member.value;
  return nullptr;
}

std::string_view article_and_name(Value::Kind kind) {
  switch (kind) {
    case Value::Kind::string:
      return "a string";
    case Value::Kind::integer:
      return "a whole number";
    case Value::Kind::real:
      return "a decimal number";
    case Value::Kind::boolean:
      return "true or false";
    case Value::Kind::date:
      return "a date or time";
    case Value::Kind::array:
      return "a list";
    case Value::Kind::table:
      return "a table";
  }
  return "something else";
}

Value parse_document(std::string_view text, const std::string& source, Findings& findings) {
  if (text.size() > kMaxText) {
    findings.error({source, 1, 1}, "the file is larger than 4 MiB; a configuration was meant");
    return {};
  }
  if (const std::uint32_t line = line_of_deep_key(text); line != 0) {
    findings.error({source, line, 1},
                   "a key of more than " + std::to_string(kMostDots) + " parts; none of ours has so many");
    return {};
  }
  if (const auto place = control_character(text, source)) {
    findings.error(*place, "not TOML: a control character");
    return {};
  }
  std::string rest(text);
  std::uint32_t last_line = 0;
  for (int errors = 0;; ++errors) {
    const auto parsed = parse(rest);
    if (parsed) return convert_table(*parsed, {source});
    const SyntaxError& error = parsed.error();
    const Place place{source, std::max(error.line, 1u), std::max(error.column, 1u)};
    findings.error(place, "not TOML: " + error.what);
    if (errors + 1 == kMaxSyntaxErrors || place.line <= last_line || !blank_line(rest, place.line)) return {};
    last_line = place.line;
  }
}

Value parse_setting(std::string_view setting, Findings& findings) {
  const std::size_t equals = setting.find('=');
  const std::string key(setting.substr(0, equals));
  const std::string source = "--set " + key;
  const Place place{source, 0, 0};
  const auto plain = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '-' || c == '.' || c == ' ';
  };
  if (equals == setting.npos || key.empty() || line_of_deep_key(setting) != 0 ||
      !std::all_of(key.begin(), key.end(), plain)) {
    findings.error(place, "key=value was meant, such as defaults.wait='\"2s\"'");
    return {};
  }
  if (control_character(setting, source)) {
    findings.error(place, "a control character");
    return {};
  }
  const auto parsed = parse(setting);
  if (!parsed) {
    const std::string_view value = setting.substr(equals + 1);
    std::string what = "the value is not TOML: " + parsed.error().what;
    if (value.find_first_of("\"'[{\n") == value.npos)
      what = "the value is TOML, in which a string has quotes: \"" + std::string(value) + "\" was meant?";
    findings.error(place, std::move(what));
    return {};
  }
  Value table = convert_table(*parsed, {source, false});
  if (table.members.size() != 1) {
    findings.error(place, "one key and one value were meant; give --set once for each");
    return {};
  }
  return table;
}

Value plain_string(std::string text, std::string source) {
  Value value;
  value.kind = Value::Kind::string;
  value.place = {std::move(source), 0, 0};
  value.text = std::move(text);
  return value;
}

}  // namespace stet::config
