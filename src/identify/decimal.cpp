#include "identify/decimal.hpp"

#include <charconv>
#include <cstdint>

namespace stet::identify {
namespace {

constexpr std::int64_t kMaxExponent = 999'999'999;

// value = sign × (head tail) × 10^exponent; head and tail are pieces of the text around the point.
struct Parts {
  bool negative = false;
  std::string_view head;
  std::string_view tail;
  std::int64_t exponent = 0;
};

std::optional<std::int64_t> read_exponent(std::string_view text) {
  bool negative = false;
  if (text.starts_with('+') || text.starts_with('-')) {
    negative = text.front() == '-';
    text.remove_prefix(1);
  }
  while (text.size() > 1 && text.front() == '0') text.remove_prefix(1);
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || value > kMaxExponent) return std::nullopt;
  return negative ? -value : value;
}

std::optional<Parts> take_apart(std::string_view text) {
  Parts parts;
  if (text.starts_with('-')) {
    parts.negative = true;
    text.remove_prefix(1);
  }
  if (const auto e = text.find_first_of("eE"); e != std::string_view::npos) {
    const auto exponent = read_exponent(text.substr(e + 1));
    if (!exponent) return std::nullopt;
    parts.exponent = *exponent;
    text = text.substr(0, e);
  }
  parts.head = text;
  if (const auto point = text.find('.'); point != std::string_view::npos) {
    parts.head = text.substr(0, point);
    parts.tail = text.substr(point + 1);
  }
  parts.exponent -= static_cast<std::int64_t>(parts.tail.size());

  const auto strip_front = [](std::string_view& digits) {
    while (digits.starts_with('0')) digits.remove_prefix(1);
  };
  strip_front(parts.head);
  if (parts.head.empty()) strip_front(parts.tail);
  const auto strip_back = [&parts](std::string_view& digits) {
    while (digits.ends_with('0')) {
      digits.remove_suffix(1);
      ++parts.exponent;
    }
  };
  strip_back(parts.tail);
  if (parts.tail.empty()) strip_back(parts.head);
  if (parts.head.empty() && parts.tail.empty()) return Parts{};
  return parts;
}

}  // namespace

bool append_decimal(std::string& out, std::string_view text) {
  const auto parts = take_apart(text);
  if (!parts) return false;
  if (parts->head.empty() && parts->tail.empty()) {
    out.push_back('0');
    return true;
  }
  if (parts->negative) out.push_back('-');
  out.append(parts->head).append(parts->tail).push_back('e');
  char digits[24];
  const auto end = std::to_chars(digits, digits + sizeof digits, parts->exponent).ptr;
  out.append(digits, end);
  return true;
}

std::optional<std::string> whole_number(std::string_view text, std::size_t max_digits) {
  const auto parts = take_apart(text);
  if (!parts || parts->exponent < 0) return std::nullopt;
  const std::size_t digits = parts->head.size() + parts->tail.size();
  if (digits == 0) return "0";
  if (digits + static_cast<std::size_t>(parts->exponent) > max_digits) return std::nullopt;
  std::string whole = parts->negative ? "-" : "";
  whole.append(parts->head).append(parts->tail).append(static_cast<std::size_t>(parts->exponent), '0');
  return whole;
}

}  // namespace stet::identify
