#include "stores/sqlite/session_state.hpp"

#include <ranges>

namespace stet::stores::sqlite {

std::optional<MonoTime> SessionState::lease(Row row) const {
  const auto lease = leases_.find(row);
  return lease == leases_.end() ? std::nullopt : std::optional(lease->second);
}

void SessionState::add_key(Tag tag, Row row) {
  keys_.add(tag, row);
  undo_.emplace_back(Added{tag, row});
}

void SessionState::remove_key(Tag tag, Row row) {
  keys_.remove(tag, row);
  undo_.emplace_back(Removed{tag, row});
}

void SessionState::set_lease(Row row, std::optional<MonoTime> ends) {
  undo_.emplace_back(Leased{row, lease(row)});
  put_lease(row, ends);
}

void SessionState::put_lease(Row row, std::optional<MonoTime> ends) {
  if (ends) {
    leases_.insert_or_assign(row, *ends);
  } else {
    leases_.erase(row);
  }
}

void SessionState::undo() {
  struct Undo {
    SessionState& self;
    void operator()(const Added& a) const { self.keys_.remove(a.tag, a.row); }
    void operator()(const Removed& r) const { self.keys_.add(r.tag, r.row); }
    void operator()(const Leased& l) const { self.put_lease(l.row, l.before); }
  };
  for (const auto& step : std::views::reverse(undo_)) std::visit(Undo{*this}, step);
  undo_.clear();
}

}  // namespace stet::stores::sqlite
