#include "config/reading.hpp"

#include <algorithm>

namespace stet::config {
namespace {

std::string kind_of(const Value& value) {
  return std::string(article_and_name(value.kind));
}

}  // namespace

bool Reading::is(const Value& value, Value::Kind kind, std::string_view example) {
  if (value.kind == kind) return true;
  error(value.place, kind_of(value) + " where " + std::string(article_and_name(kind)) +
                         " was meant, such as " + std::string(example));
  return false;
}

void read_flag(Reading& reading, const Value& value, bool& out) {
  if (value.kind == Value::Kind::boolean) {
    out = value.boolean;
  } else if (value.kind == Value::Kind::string && (value.text == "true" || value.text == "false")) {
    reading.error(value.place, "true and false are written without quotes");
  } else {
    reading.error(value.place, kind_of(value) + " where true or false was meant");
  }
}

void read_duration(Reading& reading, const Value& value, milliseconds& out, Zero zero, Forever forever) {
  if (value.kind == Value::Kind::integer) {
    reading.error(value.place, "a bare number has no unit: \"" + std::to_string(value.integer) + "s\" or \"" +
                                   std::to_string(value.integer) + "ms\" was meant?");
    return;
  }
  if (!reading.is(value, Value::Kind::string, "\"30s\"")) return;
  const auto duration = parse_duration(value.text, forever);
  if (!duration) return reading.error(value.place, duration.error());
  if (zero == Zero::refused && duration->count() == 0)
    return reading.error(value.place,
                         "\"" + value.text + "\" leaves no time at all; a positive duration was meant");
  out = *duration;
}

void read_size(Reading& reading, const Value& value, std::uint64_t& out, std::uint64_t least,
               std::uint64_t most) {
  std::uint64_t size = 0;
  if (value.kind == Value::Kind::integer) {
    if (value.integer < 0) return reading.error(value.place, "a size cannot be negative");
    size = static_cast<std::uint64_t>(value.integer);
  } else {
    if (!reading.is(value, Value::Kind::string, "\"1MiB\", or a whole number of bytes")) return;
    const auto parsed = parse_size(value.text);
    if (!parsed) return reading.error(value.place, parsed.error());
    size = *parsed;
  }
  if (size < least || size > most)
    return reading.error(value.place,
                         "between " + size_text(least) + " and " + size_text(most) + " was meant");
  out = size;
}

void read_count(Reading& reading, const Value& value, std::size_t& out, std::size_t least, std::size_t most) {
  if (!reading.is(value, Value::Kind::integer,
                  std::to_string(std::max(least, std::min<std::size_t>(most, 100)))))
    return;
  if (value.integer < 0 || static_cast<std::uint64_t>(value.integer) < least ||
      static_cast<std::uint64_t>(value.integer) > most)
    return reading.error(value.place, "a whole number from " + std::to_string(least) + " to " +
                                          std::to_string(most) + " was meant");
  out = static_cast<std::size_t>(value.integer);
}

void read_status(Reading& reading, const Value& value, int& out) {
  if (!reading.is(value, Value::Kind::integer, "409")) return;
  if (value.integer < 400 || value.integer > 499)
    return reading.error(value.place, std::to_string(value.integer) +
                                          " is no client error: a status from 400 to 499 was meant");
  out = static_cast<int>(value.integer);
}

std::optional<std::vector<Said>> read_strings(Reading& reading, const Value& value, Shape shape) {
  if (value.kind == Value::Kind::string && shape == Shape::one_or_list)
    return std::vector<Said>{{value.text, value.place}};
  if (value.kind == Value::Kind::string) {
    reading.error(value.place, "a string where a list was meant: [\"" + value.text + "\"]");
    return std::nullopt;
  }
  if (value.kind != Value::Kind::array) {
    reading.error(value.place, kind_of(value) + " where " + (shape == Shape::list ? "" : "a string or ") +
                                   "a list of strings was meant");
    return std::nullopt;
  }
  std::vector<Said> said;
  bool good = true;
  for (const Value& item : value.items) {
    if (reading.is(item, Value::Kind::string, "\"…\""))
      said.push_back({item.text, item.place});
    else
      good = false;
  }
  if (!good) return std::nullopt;
  return said;
}

void read_field_names(Reading& reading, const Value& value, std::vector<std::string>& out) {
  const auto said = read_strings(reading, value, Shape::list);
  if (!said) return;
  std::vector<std::string> names;
  for (const Said& one : *said) {
    if (!is_token(one.text)) {
      reading.error(one.place, "\"" + one.text + "\" is no header name (RFC 9110 section 5.1)");
    } else if (std::string name = lower(one.text);
               std::find(names.begin(), names.end(), name) != names.end()) {
      reading.error(one.place, "\"" + one.text + "\" is named twice");
    } else {
      names.push_back(std::move(name));
    }
  }
  out = std::move(names);
}

void read_pointers(Reading& reading, const Value& value, std::vector<std::string>& out) {
  const auto said = read_strings(reading, value, Shape::list);
  if (!said) return;
  std::vector<std::string> pointers;
  for (const Said& one : *said) {
    if (std::string error = pointer_error(one.text); !error.empty())
      reading.error(one.place, error);
    else
      pointers.push_back(one.text);
  }
  out = std::move(pointers);
}

}  // namespace stet::config
