#include <algorithm>
#include <array>

#include "probe/checks/check.hpp"

namespace stet::probe {

std::span<const Check* const> all_checks() {
  static constexpr std::array table = {
      &checks::repeat,      &checks::fresh_connection, &checks::at_once,       &checks::lost_answer,
      &checks::impatient,   &checks::lost_request,     &checks::other_payload, &checks::same_meaning,
      &checks::other_route, &checks::other_caller,     &checks::failed_first,  &checks::no_key,
      &checks::key_forms,   &checks::new_intent,       &checks::kill,
  };
  return table;
}

const Check* find_check(std::string_view name) {
  const auto found = std::ranges::find(all_checks(), name, [](const Check* check) { return check->name; });
  return found == all_checks().end() ? nullptr : *found;
}

}  // namespace stet::probe
