#include "admin/exposition.hpp"

#include <array>
#include <charconv>
#include <cstdio>

namespace stet::admin {
namespace {

std::string_view type_name(Exposition::Type type) {
  switch (type) {
    case Exposition::Type::counter:
      return "counter";
    case Exposition::Type::gauge:
      return "gauge";
    case Exposition::Type::histogram:
      return "histogram";
  }
  return "untyped";
}

void append_escaped(std::string& out, std::string_view value) {
  for (const char c : value) {
    if (c == '\\' || c == '"') out += '\\';
    if (c == '\n') {
      out += "\\n";
    } else {
      out += c;
    }
  }
}

}  // namespace

void Exposition::begin(std::string_view name, Type type, std::string_view help) {
  name_ = name;
  text_.append("# HELP ").append(name).append(" ").append(help);
  text_.append("\n# TYPE ").append(name).append(" ").append(type_name(type)).append("\n");
}

void Exposition::sample(std::uint64_t value, Labels labels) {
  line("", labels, "", std::to_string(value));
}
void Exposition::sample(std::int64_t value, Labels labels) {
  line("", labels, "", std::to_string(value));
}

void Exposition::sample(double value, Labels labels) {
  std::array<char, 64> digits;
  const auto end =
      std::to_chars(digits.data(), digits.data() + digits.size(), value, std::chars_format::fixed, 3);
  line("", labels, "", std::string_view(digits.data(), static_cast<std::size_t>(end.ptr - digits.data())));
}

// Exact, where a double would print 0.0024999999.
std::string Exposition::decimal(std::uint64_t value, std::uint64_t per_unit) {
  std::string text = std::to_string(value / per_unit);
  std::string fraction;
  std::uint64_t rest = value % per_unit;
  for (std::uint64_t unit = per_unit / 10; unit > 0 && rest > 0; unit /= 10) {
    fraction += static_cast<char>('0' + rest / unit);
    rest %= unit;
  }
  return fraction.empty() ? text : text + "." + fraction;
}

void Exposition::bucket(std::string_view bound, std::uint64_t cumulative, Labels labels) {
  line("_bucket", labels, bound, std::to_string(cumulative));
}

void Exposition::totals(std::string_view sum, std::uint64_t count, Labels labels) {
  line("_sum", labels, "", sum);
  line("_count", labels, "", std::to_string(count));
}

void Exposition::line(std::string_view suffix, Labels labels, std::string_view bound,
                      std::string_view value) {
  text_.append(name_).append(suffix);
  char opening = '{';
  const auto label = [&](std::string_view name, std::string_view content) {
    text_ += opening;
    opening = ',';
    text_.append(name).append("=\"");
    append_escaped(text_, content);
    text_ += '"';
  };
  for (const Label& each : labels) label(each.name, each.value);
  if (!bound.empty()) label("le", bound);
  if (opening == ',') text_ += '}';
  text_.append(" ").append(value).append("\n");
}

}  // namespace stet::admin
