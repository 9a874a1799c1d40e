#pragma once
// A TOML document as plain data in which every key and value knows its place. The only unit that includes
// toml++ is document.cpp.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "config/finding.hpp"

namespace stet::config {

struct Member;

struct Value {
  enum class Kind : std::uint8_t { string, integer, real, boolean, date, array, table };
  Kind kind = Kind::table;
  Place place;
  std::string text;  // string
  std::int64_t integer = 0;
  bool boolean = false;
  std::vector<Value> items;                       // array
  std::vector<Member> members;                    // table
  const Value* find(std::string_view key) const;  // of a table; null when absent
};

struct Member {
  std::string key;
  Place place;  // of the key
  Value value;
};

std::string_view article_and_name(Value::Kind);  // "a whole number"

// A table. Syntax errors go to `findings`; the parser goes on behind a broken line where that is safe, so
// that more than the first is found, and what was readable is returned.
Value parse_document(std::string_view text, const std::string& source, Findings& findings);

// `key=value` of --set, the value in TOML, as a table with that one (perhaps dotted) key.
Value parse_setting(std::string_view setting, Findings& findings);

// A string value that was not written in TOML (flags of their own, the environment).
Value plain_string(std::string text, std::string source);

}  // namespace stet::config
