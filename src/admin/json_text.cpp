#include "admin/json_text.hpp"

#include <cstdio>

namespace stet::admin {
namespace {

// The length of the valid UTF-8 sequence at the start of `text`, or 0 (RFC 3629 section 4).
std::size_t sequence_length(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char lead = byte(0);
  std::size_t length = 0;
  unsigned char low = 0x80;
  unsigned char high = 0xBF;
  if (lead >= 0xC2 && lead <= 0xDF) length = 2;
  if (lead >= 0xE0 && lead <= 0xEF) length = 3;
  if (lead >= 0xF0 && lead <= 0xF4) length = 4;
  if (lead == 0xE0) low = 0xA0;
  if (lead == 0xED) high = 0x9F;
  if (lead == 0xF0) low = 0x90;
  if (lead == 0xF4) high = 0x8F;
  if (length == 0 || text.size() < length || byte(1) < low || byte(1) > high) return 0;
  for (std::size_t i = 2; i < length; ++i) {
    if (byte(i) < 0x80 || byte(i) > 0xBF) return 0;
  }
  return length;
}

void append_escape(std::string& out, unsigned char c) {
  switch (c) {
    case '\n': out += "\\n"; return;
    case '\r': out += "\\r"; return;
    case '\t': out += "\\t"; return;
    default: break;
  }
  constexpr std::string_view kHex = "0123456789abcdef";
  out += "\\u00";
  out += kHex[c >> 4];
  out += kHex[c & 15];
}

}  // namespace

void append_json_string(std::string& out, std::string_view text) {
  out += '"';
  for (std::size_t i = 0; i < text.size();) {
    const auto c = static_cast<unsigned char>(text[i]);
    if (c >= 0x80) {
      const std::size_t length = sequence_length(text.substr(i));
      out.append(length == 0 ? std::string_view("\xEF\xBF\xBD") : text.substr(i, length));
      i += length == 0 ? 1 : length;
      continue;
    }
    if (c < 0x20 || c == 0x7F) {
      append_escape(out, c);
    } else {
      if (c == '"' || c == '\\') out += '\\';
      out += static_cast<char>(c);
    }
    ++i;
  }
  out += '"';
}

void JsonObject::member(std::string_view name) {
  if (text_.size() > 1) text_ += ',';
  append_json_string(text_, name);
  text_ += ':';
}

void JsonObject::add(std::string_view name, std::string_view value) {
  member(name);
  append_json_string(text_, value);
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
