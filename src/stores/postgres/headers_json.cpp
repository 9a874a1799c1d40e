#include "stores/postgres/headers_json.hpp"

#include <cstdint>

namespace stet::stores::postgres {
namespace {

void append_quoted(std::string& to, std::string_view text) {
  static constexpr char kDigits[] = "0123456789abcdef";
  to.push_back('"');
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      to.push_back('\\');
      to.push_back(c);
    } else if (static_cast<unsigned char>(c) < 0x20) {
      to.append("\\u00");
      to.push_back(kDigits[c >> 4]);
      to.push_back(kDigits[c & 15]);
    } else {
      to.push_back(c);
    }
  }
  to.push_back('"');
}

class Parser {
 public:
  explicit Parser(std::string_view json) : rest_(json) {}

  std::optional<Headers> headers() {
    Headers headers;
    if (!take('[')) return std::nullopt;
    if (take(']')) return ended(std::move(headers));
    do {
      Header header;
      if (!take('[') || !string(header.name) || !take(',') || !string(header.value) || !take(']')) {
        return std::nullopt;
      }
      headers.push_back(std::move(header));
    } while (take(','));
    if (!take(']')) return std::nullopt;
    return ended(std::move(headers));
  }

 private:
  std::optional<Headers> ended(Headers headers) {
    skip_space();
    if (!rest_.empty()) return std::nullopt;
    return headers;
  }

  void skip_space() {
    const std::size_t at = rest_.find_first_not_of(" \t\r\n");
    rest_.remove_prefix(at == rest_.npos ? rest_.size() : at);
  }

  bool take(char wanted) {
    skip_space();
    if (!rest_.starts_with(wanted)) return false;
    rest_.remove_prefix(1);
    return true;
  }

  bool string(std::string& to) {
    if (!take('"')) return false;
    for (;;) {
      const std::size_t plain = rest_.find_first_of("\"\\");
      if (plain == rest_.npos) return false;
      to.append(rest_.substr(0, plain));
      const bool ends = rest_[plain] == '"';
      rest_.remove_prefix(plain + 1);
      if (ends) return true;
      if (!escape(to)) return false;
    }
  }

  bool escape(std::string& to) {
    static constexpr std::string_view kLetters = "\"\\/bfnrt";
    static constexpr std::string_view kMeant = "\"\\/\b\f\n\r\t";
    if (rest_.empty()) return false;
    const char letter = rest_.front();
    rest_.remove_prefix(1);
    if (letter == 'u') return unicode(to);
    const std::size_t at = kLetters.find(letter);
    if (at == kLetters.npos) return false;
    to.push_back(kMeant[at]);
    return true;
  }

  // Only what jsonb prints this way: control characters. It has turned every other escape into the character.
  bool unicode(std::string& to) {
    if (rest_.size() < 4) return false;
    unsigned code = 0;
    for (const char c : rest_.substr(0, 4)) {
      const bool digit = c >= '0' && c <= '9';
      const bool letter = c >= 'a' && c <= 'f';
      if (!digit && !letter) return false;
      code = code * 16 + static_cast<unsigned>(digit ? c - '0' : c - 'a' + 10);
    }
    rest_.remove_prefix(4);
    if (code == 0 || code > 0x7f) return false;
    to.push_back(static_cast<char>(code));
    return true;
  }

  std::string_view rest_;
};

}  // namespace

std::optional<std::string> to_json(const Headers& headers) {
  std::string json = "[";
  for (const Header& header : headers) {
    if (!is_text(header.name) || !is_text(header.value)) return std::nullopt;
    json.append(json.size() > 1 ? ",[" : "[");
    append_quoted(json, header.name);
    json.push_back(',');
    append_quoted(json, header.value);
    json.push_back(']');
  }
  json.push_back(']');
  return json;
}

std::optional<Headers> headers_of_json(std::string_view json) {
  return Parser(json).headers();
}

}  // namespace stet::stores::postgres
