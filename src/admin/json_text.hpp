#pragma once
// Writing JSON text (RFC 8259) piece by piece, for lines and answers whose shape is known.

#include <cstdint>
#include <string>
#include <string_view>

namespace stet::admin {

// A quoted string. Control characters are escaped; what is not UTF-8 becomes U+FFFD, so that any bytes give valid JSON.
void append_json_string(std::string& out, std::string_view text);

// One flat object: {"a":"x","b":1}.
class JsonObject {
 public:
  void add(std::string_view name, std::string_view value);
  void add(std::string_view name, std::int64_t value);
  void add_millis(std::string_view name, std::int64_t micros);  // as milliseconds with three decimals
  void add_raw(std::string_view name, std::string_view json);
  std::string take();

 private:
  void member(std::string_view name);
  std::string text_ = "{";
};

}  // namespace stet::admin
