#pragma once
// JSON text (RFC 8259) of flat objects, for log lines and short answers.

#include <cstdint>
#include <string>
#include <string_view>

namespace stet::admin {

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
