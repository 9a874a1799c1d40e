#pragma once
// Random JSON values, each of which can be spelt in many ways, for tests of what must not depend on the
// spelling.

#include <algorithm>
#include <cstdint>
#include <map>
#include <random>
#include <string>
#include <utility>
#include <vector>

namespace stet::identify {

struct RandomValue {
  enum class Kind : std::uint8_t { word, number, string, array, object } kind = Kind::word;
  std::string text;  // word; the number's digits without its sign; the string's characters, ASCII and U+00E9
  bool negative = false;
  int exponent = 0;
  std::string name;  // of a member
  std::vector<RandomValue> children;
};

class RandomJson {
 public:
  explicit RandomJson(std::uint32_t seed) : random_(seed) {}

  RandomValue value(int depth) {
    RandomValue value;
    switch (below(depth > 0 ? 5 : 3)) {
      case 0:
        value.text = word();
        break;
      case 1:
        value.kind = RandomValue::Kind::number;
        value.text = digits();
        value.negative = below(2) == 0;
        value.exponent = below(40) - 20;
        break;
      case 2:
        value.kind = RandomValue::Kind::string;
        value.text = characters();
        break;
      case 3:
        value.kind = RandomValue::Kind::array;
        for (int i = below(5); i > 0; --i) value.children.push_back(this->value(depth - 1));
        break;
      default:
        value.kind = RandomValue::Kind::object;
        for (int i = below(6); i > 0; --i) {
          auto member = this->value(depth - 1);
          member.name = characters() + std::to_string(i);
          value.children.push_back(std::move(member));
        }
    }
    return value;
  }

  std::string spell(const RandomValue& value) {
    std::string out = space();
    switch (value.kind) {
      case RandomValue::Kind::word:
        out += value.text;
        break;
      case RandomValue::Kind::number:
        out += number(value);
        break;
      case RandomValue::Kind::string:
        out += string(value.text);
        break;
      case RandomValue::Kind::array:
        out += list('[', value.children, ']');
        break;
      case RandomValue::Kind::object: {
        auto members = value.children;
        std::shuffle(members.begin(), members.end(), random_);
        out += list('{', members, '}');
      }
    }
    return out + space();
  }

  // One change somewhere that makes it another value.
  void change(RandomValue& value) {
    if (!value.children.empty() && below(3) != 0) {
      change(value.children[static_cast<std::size_t>(below(static_cast<int>(value.children.size())))]);
      return;
    }
    switch (value.kind) {
      case RandomValue::Kind::word:
        value.text = value.text == "null" ? "false" : "null";
        break;
      case RandomValue::Kind::number:
        value.text += "1";
        break;
      case RandomValue::Kind::string:
        value.text += "x";
        break;
      case RandomValue::Kind::array:
        add_null(value, "");
        break;
      case RandomValue::Kind::object:
        add_null(value, "new");
        break;
    }
  }

 private:
  static void add_null(RandomValue& value, const char* name) {
    value.children.emplace_back();
    value.children.back().text = "null";
    value.children.back().name = name;
  }

  int below(int limit) { return std::uniform_int_distribution<int>(0, limit - 1)(random_); }

  std::string word() {
    static const char* const words[] = {"null", "true", "false"};
    return words[below(3)];
  }
  std::string digits() {
    std::string text(1, static_cast<char>('1' + below(9)));
    for (int i = below(25); i > 0; --i) text.push_back(static_cast<char>('0' + below(10)));
    return text;
  }
  std::string characters() {
    std::string text;
    for (int i = below(8); i > 0; --i) {
      if (below(6) == 0) {
        text += "\xc3\xa9";
      } else {
        text.push_back(static_cast<char>(below(0x7f)));
      }
    }
    return text;
  }
  std::string space() {
    static const char* const spaces[] = {"", "", "", " ", "\n", "\t\r"};
    return spaces[below(6)];
  }

  // digits × 10^exponent, the point and the exponent anywhere.
  std::string number(const RandomValue& value) {
    std::string whole = value.text;
    int exponent = value.exponent;
    for (int i = below(4); i > 0; --i) {
      whole += "0";
      --exponent;
    }
    std::string fraction;
    while (whole.size() > 1 && below(3) != 0) {
      fraction.insert(fraction.begin(), whole.back());
      whole.pop_back();
      ++exponent;
    }
    std::string text = (value.negative ? "-" : "") + whole;
    if (!fraction.empty()) text += "." + fraction;
    if (exponent == 0 && below(2) == 0) return text;
    text += below(2) == 0 ? "e" : "E";
    if (exponent >= 0 && below(2) == 0) text += "+";
    if (exponent < 0) text += "-";
    if (below(3) == 0) text += "00";
    return text + std::to_string(exponent < 0 ? -exponent : exponent);
  }

  std::string string(const std::string& text) {
    std::string out = "\"";
    for (std::size_t i = 0; i < text.size(); ++i) {
      const auto c = static_cast<unsigned char>(text[i]);
      if (c == 0xc3) {
        ++i;
        out += below(2) == 0 ? "\xc3\xa9" : below(2) == 0 ? "\\u00e9" : "\\u00E9";
      } else if (c < 0x20 || c == '"' || c == '\\' || below(8) == 0) {
        static const char hex[] = "0123456789abcdef";
        if (c == '\n' && below(2) == 0) {
          out += "\\n";
        } else if (c == '"' && below(2) == 0) {
          out += "\\\"";
        } else {
          out += "\\u00";
          out.push_back(hex[c >> 4]);
          out.push_back(hex[c & 15]);
        }
      } else {
        out.push_back(static_cast<char>(c));
      }
    }
    return out + "\"";
  }

  std::string list(char open, const std::vector<RandomValue>& children, char close) {
    std::string out(1, open);
    out += space();
    bool first = true;
    for (const auto& child : children) {
      if (!std::exchange(first, false)) out += ",";
      if (open == '{') out += space() + string(child.name) + space() + ":";
      out += spell(child);
    }
    out.push_back(close);
    return out;
  }

  std::mt19937 random_;
};

}  // namespace stet::identify
