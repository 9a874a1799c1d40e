#include "identify/key_field.hpp"

#include "core/digest.hpp"

namespace stet::identify {
namespace {

using Parsed = Expected<std::string, std::string>;

bool is_printable(char c) {
  return c >= 0x20 && c <= 0x7e;
}
bool is_lower(char c) {
  return c >= 'a' && c <= 'z';
}
bool is_digit(char c) {
  return c >= '0' && c <= '9';
}
bool is_alpha(char c) {
  return is_lower(c) || (c >= 'A' && c <= 'Z');
}
bool is_bare(char c) {
  return c > 0x20 && c <= 0x7e && c != ',' && c != '"' && c != '\\' && c != ';';
}

std::string describe(char c) {
  if (c == ' ') return "a space";
  if (c == '\t') return "a tab";
  if (c == ',') return "a comma";
  if (c == ';') return "a semicolon";
  if (c == '"') return "a double quote";
  if (c == '\\') return "a backslash";
  const auto byte = static_cast<std::uint8_t>(c);
  return "the byte 0x" + to_hex(&byte, 1);
}

std::string at(std::size_t index) {
  return " at character " + std::to_string(index + 1);
}

Parsed sized(std::string key) {
  if (key.empty()) return unexpected(std::string("the key is empty"));
  if (key.size() > kMaxKey) {
    return unexpected("the key has " + std::to_string(key.size()) +
                      " characters, and at most 255 are allowed");
  }
  return key;
}

// Steps over RFC 8941 parameters; what they say does not matter, that they are well formed does: a field that
// is not a structured field is not guessed at.
class Parameters {
 public:
  Parameters(std::string_view text, std::size_t from) : text_(text), at_(from) {}

  bool skip() {
    while (at_ < text_.size()) {
      if (text_[at_] != ';') return false;
      ++at_;
      while (peek() == ' ') ++at_;
      if (!name()) return false;
      if (peek() == '=') {
        ++at_;
        if (!value()) return false;
      }
    }
    return true;
  }
  std::size_t position() const { return at_; }

 private:
  char peek() const { return at_ < text_.size() ? text_[at_] : '\0'; }

  template <class Accept>
  bool run(Accept accept) {
    const std::size_t start = at_;
    while (at_ < text_.size() && accept(text_[at_])) ++at_;
    return at_ > start;
  }

  bool name() {
    if (!is_lower(peek()) && peek() != '*') return false;
    return run(
        [](char c) { return is_lower(c) || is_digit(c) || c == '_' || c == '-' || c == '.' || c == '*'; });
  }

  bool value() {
    const char first = peek();
    if (first == '"') return string();
    if (first == '?') {
      ++at_;
      const bool known = peek() == '0' || peek() == '1';
      ++at_;
      return known;
    }
    if (first == ':') {
      ++at_;
      run([](char c) { return is_alpha(c) || is_digit(c) || c == '+' || c == '/' || c == '='; });
      const bool closed = peek() == ':';
      ++at_;
      return closed;
    }
    if (first == '-' || is_digit(first)) {
      if (first == '-') ++at_;
      if (!run(is_digit)) return false;
      if (peek() != '.') return true;
      ++at_;
      return run(is_digit);
    }
    if (!is_alpha(first) && first != '*') return false;
    return run([](char c) {
      return is_alpha(c) || is_digit(c) ||
             std::string_view("!#$%&'*+-.^_`|~:/").find(c) != std::string_view::npos;
    });
  }

  bool string() {
    for (++at_; at_ < text_.size(); ++at_) {
      const char c = text_[at_];
      if (c == '"') {
        ++at_;
        return true;
      }
      if (!is_printable(c)) return false;
      if (c == '\\' && (++at_ == text_.size() || (text_[at_] != '"' && text_[at_] != '\\'))) return false;
    }
    return false;
  }

  std::string_view text_;
  std::size_t at_;
};

Parsed parse_quoted(std::string_view line) {
  std::string key;
  std::size_t i = 1;
  for (;; ++i) {
    if (i == line.size()) return unexpected(std::string("the closing double quote is missing"));
    const char c = line[i];
    if (c == '"') break;
    if (!is_printable(c)) return unexpected(describe(c) + at(i) + " is not printable ASCII");
    if (c != '\\') {
      key.push_back(c);
      continue;
    }
    ++i;
    if (i == line.size() || (line[i] != '"' && line[i] != '\\')) {
      return unexpected("the backslash" + at(i - 1) +
                        " stands before something other than \\ or a double quote");
    }
    key.push_back(line[i]);
  }
  Parameters parameters(line, i + 1);
  if (!parameters.skip()) {
    const std::size_t where = std::min(parameters.position(), line.size());
    if (where < line.size() && line[where] == ',')
      return unexpected("a list of keys: there is a comma" + at(where));
    return unexpected("what follows the closing double quote, from character " + std::to_string(where + 1) +
                      ", is not a parameter of a structured field (RFC 8941)");
  }
  return sized(std::move(key));
}

Parsed parse_bare(std::string_view line) {
  for (std::size_t i = 0; i < line.size(); ++i) {
    const char c = line[i];
    if (is_bare(c)) continue;
    if (is_printable(c)) {
      return unexpected(describe(c) + at(i) + " cannot stand in a key without double quotes around it");
    }
    return unexpected(describe(c) + at(i) + " is not visible ASCII");
  }
  return sized(std::string(line));
}

}  // namespace

std::string_view trim(std::string_view text) {
  const auto first = text.find_first_not_of(" \t");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

Expected<std::string, std::string> parse_key_field(std::string_view line) {
  line = trim(line);
  return line.starts_with('"') ? parse_quoted(line) : parse_bare(line);
}

bool has_bare_form(std::string_view key) {
  for (const char c : key) {
    if (!is_bare(c)) return false;
  }
  return !key.empty();
}

std::string quoted_form(std::string_view key) {
  std::string text = "\"";
  for (const char c : key) {
    if (c == '"' || c == '\\') text.push_back('\\');
    text.push_back(c);
  }
  text.push_back('"');
  return text;
}

}  // namespace stet::identify
