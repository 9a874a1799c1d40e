#include "probe/curl_line.hpp"

namespace stet::probe {
namespace {

// The character after a backslash in $'…', or the bytes of \xHH, \uHHHH and \OOO; moves `at` behind it.
std::string ansi_escape(const std::string& text, std::size_t& at) {
  const auto digits = [&](std::size_t from, std::size_t most, int base) {
    std::string part;
    while (part.size() < most && from + part.size() < text.size() &&
           std::string_view("0123456789abcdefABCDEF")
                   .substr(0, base == 8 ? 8 : 22)
                   .find(text[from + part.size()]) != std::string_view::npos) {
      part += text[from + part.size()];
    }
    return part;
  };
  const char c = text[at++];
  switch (c) {
    case 'n':
      return "\n";
    case 't':
      return "\t";
    case 'r':
      return "\r";
    case 'x': {
      const std::string part = digits(at, 2, 16);
      at += part.size();
      return part.empty() ? "x" : std::string(1, static_cast<char>(std::stoi(part, nullptr, 16)));
    }
    case 'u': {
      const std::string part = digits(at, 4, 16);
      at += part.size();
      if (part.empty()) return "u";
      const auto point = static_cast<unsigned>(std::stoi(part, nullptr, 16));
      if (point < 0x80) return std::string(1, static_cast<char>(point));
      if (point < 0x800)
        return {static_cast<char>(0xc0U | point >> 6U), static_cast<char>(0x80U | (point & 0x3fU))};
      return {static_cast<char>(0xe0U | point >> 12U), static_cast<char>(0x80U | (point >> 6U & 0x3fU)),
              static_cast<char>(0x80U | (point & 0x3fU))};
    }
    default: {
      const std::string part = digits(at - 1, 3, 8);
      if (part.empty()) return std::string(1, c);
      at += part.size() - 1;
      return std::string(1, static_cast<char>(std::stoi(part, nullptr, 8)));
    }
  }
}

}  // namespace

Expected<std::vector<std::string>, std::string> shell_words(const std::string& command) {
  std::vector<std::string> words;
  std::string word;
  bool open = false;
  std::size_t at = 0;
  while (at < command.size()) {
    const char c = command[at];
    if (c == '\\') {
      if (++at < command.size() && command[at] != '\n') {
        if (command[at] == '\r') {
          ++at;
          continue;
        }
        word += command[at];
        open = true;
      }
      ++at;
    } else if (c == '\'' || (c == '$' && at + 1 < command.size() && command[at + 1] == '\'')) {
      const bool ansi = c == '$';
      at += ansi ? 2 : 1;
      open = true;
      while (at < command.size() && command[at] != '\'') {
        if (ansi && command[at] == '\\' && at + 1 < command.size()) {
          ++at;
          word += ansi_escape(command, at);
        } else {
          word += command[at++];
        }
      }
      if (at++ >= command.size()) return tl::unexpected(std::string("a single quote is open"));
    } else if (c == '"') {
      ++at;
      open = true;
      while (at < command.size() && command[at] != '"') {
        if (command[at] == '\\' && at + 1 < command.size()) {
          const char next = command[at + 1];
          if (next == '\n') {
            at += 2;
            continue;
          }
          if (std::string_view("\\\"$`").find(next) != std::string_view::npos) ++at;
        }
        word += command[at++];
      }
      if (at++ >= command.size()) return tl::unexpected(std::string("a double quote is open"));
    } else if (c == ' ' || c == '\t' || c == '\n' || c == '\r') {
      if (open) words.push_back(std::move(word));
      word.clear();
      open = false;
      ++at;
    } else {
      word += c;
      open = true;
      ++at;
    }
  }
  if (open) words.push_back(std::move(word));
  return words;
}

}  // namespace stet::probe
