#include "http/message.hpp"

#include <algorithm>

#include "http/chars.hpp"

namespace stet::http {

bool iequals(std::string_view a, std::string_view b) {
  if (a.size() != b.size()) return false;
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (chars::lower(a[i]) != chars::lower(b[i])) return false;
  }
  return true;
}

bool istarts_with(std::string_view text, std::string_view prefix) {
  return text.size() >= prefix.size() && iequals(text.substr(0, prefix.size()), prefix);
}

std::size_t Fields::count(std::string_view name) const {
  return static_cast<std::size_t>(std::count_if(
      lines_.begin(), lines_.end(), [&](const Header& line) { return iequals(line.name, name); }));
}

std::optional<std::string_view> Fields::first(std::string_view name) const {
  for (const Header& line : lines_) {
    if (iequals(line.name, name)) return line.value;
  }
  return std::nullopt;
}

std::vector<std::string_view> Fields::all(std::string_view name) const {
  std::vector<std::string_view> values;
  for (const Header& line : lines_) {
    if (iequals(line.name, name)) values.emplace_back(line.value);
  }
  return values;
}

std::string_view RequestHead::path() const {
  const std::string_view whole = target;
  return whole.substr(0, whole.find('?'));
}

std::string_view RequestHead::query() const {
  const std::string_view whole = target;
  const std::size_t mark = whole.find('?');
  return mark == std::string_view::npos ? std::string_view{} : whole.substr(mark + 1);
}

std::string_view RequestHead::host() const {
  return fields.first("Host").value_or(std::string_view{});
}

}  // namespace stet::http
