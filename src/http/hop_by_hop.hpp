#pragma once
// What both writers need. Internal to stet_http.

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "stet/record.hpp"

namespace stet::http {

// The field names that Connection lists; views into the lines.
class ConnectionOptions {
 public:
  explicit ConnectionOptions(std::span<const Header> lines);
  bool name(std::string_view field) const;

 private:
  std::vector<std::string_view> names_;
};

// Our parser lets no control character into a value; what comes from a store or from configuration gets a
// space instead, so that no value can end its line.
void append_line(std::string& out, std::string_view name, std::string_view value);

}  // namespace stet::http
