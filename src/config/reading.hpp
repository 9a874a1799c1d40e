#pragma once
// Reads one value into one field. A value of the wrong kind or out of range is a finding at its place, and
// the field stays as it was, so that the rest can still be checked.

#include <array>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "config/document.hpp"
#include "config/load.hpp"
#include "config/units.hpp"

namespace stet::config {

// Who else can read what is written in a source.
enum class Exposure : std::uint8_t { closed, world_readable, command_line };

struct Reading {
  Findings& findings;
  const Environment& environment;
  Exposure exposure = Exposure::closed;
  std::string key;  // the dotted key being read, for messages

  void error(const Place& place, const std::string& what) { findings.error(place, key + ": " + what); }
  void warning(const Place& place, const std::string& what) { findings.warning(place, key + ": " + what); }
  // Reports a value of another kind; true when it is of this one.
  bool is(const Value&, Value::Kind, std::string_view example);
};

enum class Zero : std::uint8_t { refused, allowed };

void read_flag(Reading&, const Value&, bool&);
void read_duration(Reading&, const Value&, milliseconds&, Zero = Zero::refused, Forever = Forever::refused);
void read_size(Reading&, const Value&, std::uint64_t&, std::uint64_t least, std::uint64_t most);
void read_count(Reading&, const Value&, std::size_t&, std::size_t least, std::size_t most);
void read_status(Reading&, const Value&, int&);

// A string, or a list of them. Each with its place.
struct Said {
  std::string text;
  Place place;
};
enum class Shape : std::uint8_t { list, one_or_list };
std::optional<std::vector<Said>> read_strings(Reading&, const Value&, Shape);
// Field names, in lower case, each once.
void read_field_names(Reading&, const Value&, std::vector<std::string>& out);
void read_pointers(Reading&, const Value&, std::vector<std::string>& out);

// "env:NAME", "file:PATH" (one newline at its end does not count) or the secret itself, which is a warning
// where others can read it.
std::optional<std::string> read_secret(Reading&, const Value&);
// The same for what may be public.
enum class Publicity : std::uint8_t { secret, open };
std::optional<std::string> resolve(Reading&, const Said&, Publicity);

template <class E>
using Choices = std::initializer_list<std::pair<std::string_view, E>>;

template <class E>
std::optional<E> read_choice(Reading& reading, const Value& value, Choices<E> choices) {
  std::vector<std::string_view> names;
  for (const auto& [name, meaning] : choices) names.push_back(name);
  if (value.kind == Value::Kind::string)
    for (const auto& [name, meaning] : choices)
      if (name == value.text) return meaning;
  const std::string all = alternatives(names);
  if (value.kind != Value::Kind::string) {
    reading.error(value.place, std::string(article_and_name(value.kind)) + " where " + all + " was meant");
    return std::nullopt;
  }
  const std::string_view near = nearest(value.text, names);
  reading.error(value.place,
                "\"" + value.text + "\" is not known; " +
                    (near.empty() ? all + " was meant"
                                  : "did you mean \"" + std::string(near) + "\"? Possible are " + all));
  return std::nullopt;
}

}  // namespace stet::config
