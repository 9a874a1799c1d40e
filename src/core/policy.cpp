#include "stet/policy.hpp"

namespace stet {

StatusTable::StatusTable() {
  // These say that nothing was done: the caller may correct itself and run the same intent again.
  for (const int status : {401, 403, 407, 425, 429})
    put(status, StatusMeaning::release, Rank::default_status);
  // Proxies send these when they lose a request midway: whether it ran is not known.
  for (const int status : {408, 502, 503, 504}) put(status, StatusMeaning::unknown, Rank::default_status);
}

void StatusTable::set_status(int status, StatusMeaning meaning) {
  put(status, meaning, Rank::route_status);
}

void StatusTable::set_class(int hundreds, StatusMeaning meaning) {
  for (int status = hundreds * 100; status < hundreds * 100 + 100; ++status)
    put(status, meaning, Rank::route_class);
}

StatusMeaning StatusTable::meaning(int status) const {
  // A status outside the grammar cannot come from the parser; if it did, nothing would be known of it.
  if (status < 100 || status > 599) return StatusMeaning::unknown;
  return cells_[static_cast<std::size_t>(status)].meaning;
}

void StatusTable::put(int status, StatusMeaning meaning, Rank rank) {
  if (status < 100 || status > 599) return;
  Cell& cell = cells_[static_cast<std::size_t>(status)];
  if (rank >= cell.rank) cell = {meaning, rank};
}

}  // namespace stet
