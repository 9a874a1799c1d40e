#include "admin/json_text.hpp"

#include "http/problem.hpp"

namespace stet::admin {

void JsonObject::member(std::string_view name) {
  if (text_.size() > 1) text_ += ',';
  http::append_json_string(text_, name);
  text_ += ':';
}

void JsonObject::add(std::string_view name, std::string_view value) {
  member(name);
  http::append_json_string(text_, value);
}

void JsonObject::add(std::string_view name, std::int64_t value) {
  member(name);
  text_ += std::to_string(value);
}

void JsonObject::add_millis(std::string_view name, std::int64_t micros) {
  member(name);
  const std::string fraction = std::to_string(1000 + micros % 1000);
  text_ += std::to_string(micros / 1000);
  text_ += '.';
  text_.append(fraction, 1);
}

void JsonObject::add_raw(std::string_view name, std::string_view json) {
  member(name);
  text_ += json;
}

std::string JsonObject::take() {
  text_ += '}';
  return std::move(text_);
}

}  // namespace stet::admin
