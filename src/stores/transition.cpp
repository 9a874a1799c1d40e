#include "stores/transition.hpp"

#include <algorithm>
#include <utility>

namespace stet::stores {
namespace {

constexpr milliseconds kLongestLease = std::chrono::hours(24 * 365);

MonoTime lease_end(const Now& now, milliseconds lease) {
  return now.mono + std::min(lease, kLongestLease);
}

bool lapsed(const Held& held, const Now& now) {
  return !held.lease_ends || *held.lease_ends <= now.mono;
}

bool same_owner(const Record& record, const Token& token) {
  return record.token.nonce == token.nonce && record.token.attempt == token.attempt;
}

bool pending_of(const std::optional<Held>& held, const Token& token) {
  return held && held->record.state == State::pending && same_owner(held->record, token);
}

Transition says(Result result) {
  return {std::move(result), Change::none, {}};
}
Transition fenced() {
  return says(result::Fenced{});
}

Result claimed(const Record& record) {
  return result::Claimed{record.token.attempt, record.recovery_point, record.maybe_executed};
}

Transition complete(const Held& held, const Answer& answer, milliseconds retention, const Now& now) {
  Transition t{result::Ok{after(now.wall, retention)}, Change::write, held};
  t.after.record.state = State::completed;
  t.after.record.answer = answer;
  t.after.record.expires_at = after(now.wall, retention);
  t.after.lease_ends.reset();
  return t;
}

// The reply to the first complete was lost: the same words again are heard again, others come too late.
Transition completed_before(const Held& held, const Answer& answer) {
  if (held.record.answer != answer) return fenced();
  return says(result::Ok{held.record.expires_at});
}

Transition give_back(const Held& held) {
  Transition t{result::Ok{}, held.record.maybe_executed ? Change::lease : Change::write, held};
  t.after.record.maybe_executed = true;
  t.after.lease_ends.reset();
  return t;
}

struct Table {
  const std::optional<Held>& held;
  const Now& now;

  Transition operator()(const command::Claim& c) const {
    if (!held) return first_claim(c);
    const Record& r = held->record;
    if (r.state == State::expired) return says(result::Expired{});
    if (r.fingerprint != c.fingerprint)
      return says(result::Mismatch{r.state, r.fingerprint, r.method, r.path});
    if (r.state == State::completed) return says(result::Replay{r.answer.value(), r.expires_at});
    if (r.state == State::unknown) return says(result::Unknown{r.token, r.terms});
    if (r.token.nonce == c.nonce) {
      Transition again{claimed(r), Change::lease, *held};
      again.after.lease_ends = lease_end(now, c.lease);
      return again;
    }
    if (lapsed(*held, now)) return says(result::Lapsed{r.token, r.terms, r.maybe_executed});
    return says(result::InProgress{std::chrono::ceil<milliseconds>(*held->lease_ends - now.mono)});
  }

  Transition first_claim(const command::Claim& c) const {
    Held fresh;
    Record& r = fresh.record;
    r.token = {c.scope, c.key, c.nonce, 1};
    r.fingerprint = c.fingerprint;
    r.method = c.method;
    r.path = c.path;
    r.terms = c.terms;
    r.created_at = now.wall;
    fresh.lease_ends = lease_end(now, c.lease);
    return {claimed(r), Change::write, std::move(fresh)};
  }

  Transition operator()(const command::TakeOver& c) const {
    if (!held || held->record.state != State::pending) return fenced();
    const Record& r = held->record;
    Transition t{claimed(r), Change::lease, *held};
    t.after.lease_ends = lease_end(now, c.lease);
    const bool reply_was_lost = r.token.nonce == c.nonce && r.token.attempt == c.seen.attempt + 1;
    if (reply_was_lost) return t;
    if (!same_owner(r, c.seen) || !lapsed(*held, now)) return fenced();
    t.after.record.token.nonce = c.nonce;
    t.after.record.token.attempt = c.seen.attempt + 1;
    t.after.record.maybe_executed = true;  // nobody knows how the attempt before ended
    t.result = claimed(t.after.record);
    t.change = Change::write;
    return t;
  }

  Transition operator()(const command::Renew& c) const {
    if (!pending_of(held, c.token)) return fenced();
    Transition t{result::Ok{}, Change::lease, *held};
    t.after.lease_ends = lease_end(now, c.lease);
    return t;
  }

  Transition operator()(const command::Complete& c) const {
    if (!held || !same_owner(held->record, c.token)) return fenced();
    switch (held->record.state) {
      case State::pending:
      case State::unknown:
        return stores::complete(*held, c.answer, c.retention.value_or(held->record.terms.retention), now);
      case State::completed:
        return completed_before(*held, c.answer);
      case State::expired:
        break;
    }
    return fenced();
  }

  Transition operator()(const command::Release& c) const {
    if (!pending_of(held, c.token)) return fenced();
    if (held->record.maybe_executed) return stores::give_back(*held);
    return {result::Ok{}, Change::free, {}};
  }

  Transition operator()(const command::GiveBack& c) const {
    if (!pending_of(held, c.token)) return fenced();
    return stores::give_back(*held);
  }

  Transition operator()(const command::SettleUnknown& c) const {
    if (!held || !same_owner(held->record, c.token)) return fenced();
    if (held->record.state == State::unknown) return says(result::Ok{});
    if (held->record.state != State::pending) return fenced();
    Transition t{result::Ok{}, Change::write, *held};
    t.after.record.state = State::unknown;
    t.after.lease_ends.reset();
    return t;
  }

  Transition operator()(const command::Advance& c) const {
    if (!pending_of(held, c.token)) return fenced();
    Transition t{result::Ok{}, Change::write, *held};
    t.after.record.recovery_point = c.recovery_point;
    return t;
  }

  Transition operator()(const command::Settle& c) const {
    if (!held) return fenced();
    const Record& r = held->record;
    const bool by_this_nonce = r.token.nonce == c.nonce && r.token.attempt == c.seen.attempt;
    if (r.state == State::completed && by_this_nonce && c.answer) return completed_before(*held, *c.answer);
    const bool settleable = r.state == State::unknown || (r.state == State::pending && lapsed(*held, now));
    if (!settleable || !same_owner(r, c.seen)) return fenced();
    if (!c.answer) return {result::Ok{}, Change::free, {}};
    Transition t = stores::complete(*held, *c.answer, r.terms.retention, now);
    t.after.record.token.nonce = c.nonce;
    return t;
  }

  Transition operator()(const command::Sweep&) const { std::abort(); }
};

struct Where {
  Place operator()(const command::Claim& c) const { return {c.scope, c.key}; }
  Place operator()(const command::TakeOver& c) const { return {c.seen.scope, c.seen.key}; }
  Place operator()(const command::Settle& c) const { return {c.seen.scope, c.seen.key}; }
  Place operator()(const command::Sweep&) const { std::abort(); }
  Place operator()(const auto& c) const { return {c.token.scope, c.token.key}; }
};

}  // namespace

Transition apply(const Command& command, const std::optional<Held>& held, const Now& now) {
  return std::visit(Table{held, now}, command);
}

Place place_of(const Command& command) {
  return std::visit(Where{}, command);
}

std::optional<Record> swept(Record record, WallTime now) {
  if (record.state != State::completed || record.terms.tombstone <= milliseconds::zero()) return std::nullopt;
  record.state = State::expired;
  record.answer.reset();
  record.fingerprint = {};
  record.recovery_point.clear();
  record.expires_at = after(now, record.terms.tombstone);
  return record;
}

Record shown_record(const Held& held, const Now& now) {
  Record record = held.record;
  record.lease_until.reset();
  if (record.state == State::pending) {
    const MonoTime ends = held.lease_ends.value_or(now.mono);
    record.lease_until = now.wall + std::chrono::duration_cast<milliseconds>(
                                        std::min(ends, now.mono + kLongestLease) - now.mono);
  }
  return record;
}

std::optional<WallTime> after(WallTime now, milliseconds span) {
  constexpr WallTime kEndOfCalendar{std::chrono::sys_days{std::chrono::year{9999} / 12 / 31}};
  if (span >= kEndOfCalendar - now) return std::nullopt;
  return now + span;
}

}  // namespace stet::stores
