#include "stet/record.hpp"

#include <array>
#include <utility>

namespace stet {
namespace {

constexpr std::array<std::pair<State, std::string_view>, 4> kStates{{
    {State::pending, "pending"},
    {State::completed, "completed"},
    {State::unknown, "unknown"},
    {State::expired, "expired"},
}};

constexpr std::array<std::string_view, 4> kOnUnknown{"fail", "retry", "ask", "joined"};

}  // namespace

std::string_view name(OnUnknown policy) {
  return kOnUnknown.at(static_cast<std::size_t>(policy));
}

std::string_view name(State state) {
  for (const auto& [value, text] : kStates) {
    if (value == state) return text;
  }
  return "";
}

std::optional<State> parse_state(std::string_view text) {
  for (const auto& [value, known] : kStates) {
    if (known == text) return value;
  }
  return std::nullopt;
}

}  // namespace stet
