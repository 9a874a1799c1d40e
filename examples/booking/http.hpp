#pragma once
// JSON in and out.

#include <boost/json.hpp>
#include <optional>
#include <string>

#include "stet/http/message.hpp"

namespace booking {

using stet::http::Request;
using stet::http::Response;

inline Response json(int status, const boost::json::value& body) {
  return {status, {{"Content-Type", "application/json"}}, boost::json::serialize(body)};
}
inline Response refusal(int status, std::string_view why) {
  return json(status, {{"error", why}});
}

// The object that is the body; empty when it is none.
inline boost::json::object object_in(std::string_view body) {
  boost::json::error_code error;
  boost::json::value value = boost::json::parse({body.data(), body.size()}, error);
  return error || !value.is_object() ? boost::json::object() : std::move(value.as_object());
}
// A member; "" or 0 when it is absent or of another type. Trap: "\u0000", at which some databases end a text
// without a word.
inline std::string text(const boost::json::object& object, std::string_view name) {
  const auto* value = object.if_contains({name.data(), name.size()});
  if (value == nullptr || !value->is_string() || value->as_string().find('\0') != std::string::npos)
    return "";
  return std::string(value->as_string());
}
inline std::int64_t number(const boost::json::object& object, std::string_view name) {
  const auto* value = object.if_contains({name.data(), name.size()});
  return value != nullptr && value->is_int64() ? value->as_int64() : 0;
}

}  // namespace booking
