#include "stores/messages.hpp"

#include <algorithm>
#include <string>

#include "stores/text.hpp"

namespace stet::stores {
namespace {

void must_be_text(std::string_view bytes, const char* what) {
  if (!is_text(bytes))
    throw StoreError(StoreFailure::not_written, std::string(what) + " is no UTF-8 text without NUL");
}

bool is_of_a_name(char c) {
  static constexpr std::string_view kOthers = "!#$%&'*+.^_`|~-";
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
         kOthers.find(c) != kOthers.npos;
}

bool ends_a_line(char c) {
  return (static_cast<unsigned char>(c) < 0x20 && c != '\t') || c == 0x7f;
}

}  // namespace

void must_fit(const Message& message) {
  must_be_text(message.topic, "the topic");
  if (message.order_key) must_be_text(*message.order_key, "the order key");
  for (const auto& [name, value] : message.headers) {
    must_be_text(value, "a header's value");
    if (name.empty() || !std::ranges::all_of(name, is_of_a_name) || std::ranges::any_of(value, ends_a_line)) {
      throw StoreError(StoreFailure::not_written,
                       "a header of the message cannot be sent: its name is no token (RFC 9110), "
                       "or its value has a control character");
    }
  }
}

void must_fit(std::string_view source, std::string_view event_id) {
  must_be_text(source, "the source");
  must_be_text(event_id, "the event's id");
}

}  // namespace stet::stores
