#include "stores/transition.hpp"

#include <algorithm>
#include <cstdlib>
#include <utility>

namespace stet::stores {
namespace {

constexpr milliseconds kLongestLease = std::chrono::hours(24 * 365);

MonoTime lease_end(const Now& now, milliseconds lease) {
  return now.mono + std::min(lease, kLongestLease);
}

bool same_owner(const Record& record, const Token& token) {
  return record.token.nonce == token.nonce && record.token.attempt == token.attempt;
}

Result claimed(const Record& record) {
  return result::Claimed{record.token.attempt, record.recovery_point, record.maybe_executed};
}

class Table {
 public:
  Table(std::optional<Held> held, const Now& now) : held_(std::move(held)), now_(now) {}

  Transition operator()(const command::Claim& c) {
    if (!held_) return first_claim(c);
    const Record& r = held_->record;
    if (r.state == State::expired) return says(result::Expired{});
    if (r.fingerprint != c.fingerprint) {
      return says(result::Mismatch{r.state, r.fingerprint, r.method, r.path});
    }
    if (r.state == State::completed) return says(result::Replay{r.answer.value(), r.expires_at});
    if (r.state == State::unknown) return says(result::Unknown{r.token, r.terms});
    if (r.token.nonce == c.nonce) return leased(claimed(r), c.lease);
    if (lapsed(*held_, now_)) return says(result::Lapsed{r.token, r.terms, r.maybe_executed});
    return says(result::InProgress{std::chrono::ceil<milliseconds>(*held_->lease_ends - now_.mono)});
  }

  Transition operator()(const command::TakeOver& c) {
    if (!held_ || held_->record.state != State::pending) return fenced();
    Record& r = held_->record;
    const bool reply_was_lost = r.token.nonce == c.nonce && r.token.attempt == c.seen.attempt + 1;
    if (reply_was_lost) return leased(claimed(r), c.lease);
    if (!same_owner(r, c.seen) || !lapsed(*held_, now_)) return fenced();
    r.token.nonce = c.nonce;
    r.token.attempt = c.seen.attempt + 1;
    // Nobody knows how the attempt before ended; of a joined one that it did nothing.
    if (r.terms.on_unknown != OnUnknown::joined) r.maybe_executed = true;
    Transition t = leased(claimed(r), c.lease);
    t.change = Change::write;
    return t;
  }

  Transition operator()(const command::Renew& c) {
    if (!pending_of(c.token)) return fenced();
    return leased(result::Ok{}, c.lease);
  }

  Transition operator()(const command::Complete& c) {
    if (!held_ || !same_owner(held_->record, c.token)) return fenced();
    const Record& r = held_->record;
    if (r.state == State::completed) return completed_before(c.answer);
    if (r.state == State::expired) return fenced();
    return complete(c.answer, c.retention.value_or(r.terms.retention));
  }

  Transition operator()(const command::Release& c) {
    if (!pending_of(c.token)) return fenced();
    if (held_->record.maybe_executed) return give_back();
    return {result::Ok{}, Change::free, {}};
  }

  Transition operator()(const command::GiveBack& c) {
    if (!pending_of(c.token)) return fenced();
    return give_back();
  }

  Transition operator()(const command::SettleUnknown& c) {
    if (!held_ || !same_owner(held_->record, c.token)) return fenced();
    if (held_->record.state == State::unknown) return says(result::Ok{});
    if (held_->record.state != State::pending) return fenced();
    if (c.by == command::SettleUnknown::By::observer && !lapsed(*held_, now_)) return fenced();
    held_->record.state = State::unknown;
    held_->lease_ends.reset();
    return changed(Change::write, result::Ok{});
  }

  Transition operator()(const command::Advance& c) {
    if (!pending_of(c.token)) return fenced();
    held_->record.recovery_point = c.recovery_point;
    return changed(Change::write, result::Ok{});
  }

  Transition operator()(const command::Settle& c) {
    if (!held_) return fenced();
    Record& r = held_->record;
    const bool by_this_nonce = r.token.nonce == c.nonce && r.token.attempt == c.seen.attempt;
    if (r.state == State::completed && by_this_nonce && c.answer) return completed_before(*c.answer);
    const bool settleable = r.state == State::unknown || (r.state == State::pending && lapsed(*held_, now_));
    if (!settleable || !same_owner(r, c.seen)) return fenced();
    if (!c.answer) return {result::Ok{}, Change::free, {}};
    r.token.nonce = c.nonce;
    return complete(*c.answer, r.terms.retention);
  }

  Transition operator()(const command::Sweep&) { std::abort(); }

 private:
  bool pending_of(const Token& token) const {
    return held_ && held_->record.state == State::pending && same_owner(held_->record, token);
  }

  Transition changed(Change change, Result result) {
    return {std::move(result), change, held_ ? *std::move(held_) : Held{}};
  }
  Transition says(Result result) { return changed(Change::none, std::move(result)); }
  Transition fenced() { return says(result::Fenced{}); }
  Transition leased(Result result, milliseconds lease) {
    held_->lease_ends = lease_end(now_, lease);
    return changed(Change::lease, std::move(result));
  }

  Transition first_claim(const command::Claim& c) const {
    Held fresh;
    Record& r = fresh.record;
    r.token = {c.scope, c.key, c.nonce, 1};
    r.fingerprint = c.fingerprint;
    r.method = c.method;
    r.path = c.path;
    r.terms = c.terms;
    r.created_at = now_.wall;
    fresh.lease_ends = lease_end(now_, c.lease);
    return {claimed(r), Change::write, std::move(fresh)};
  }

  Transition complete(const Answer& answer, milliseconds retention) {
    Record& r = held_->record;
    r.state = State::completed;
    r.answer = answer;
    r.expires_at = after(now_.wall, retention);
    held_->lease_ends.reset();
    return changed(Change::write, result::Ok{r.expires_at});
  }

  // The reply to the first complete was lost: the same words again are heard again, others come too late.
  Transition completed_before(const Answer& answer) {
    if (held_->record.answer != answer) return fenced();
    return says(result::Ok{held_->record.expires_at});
  }

  Transition give_back() {
    const Change change = held_->record.maybe_executed ? Change::lease : Change::write;
    held_->record.maybe_executed = true;
    held_->lease_ends.reset();
    return changed(change, result::Ok{});
  }

  std::optional<Held> held_;
  const Now& now_;
};

struct Where {
  Place operator()(const command::Claim& c) const { return {c.scope, c.key}; }
  Place operator()(const command::TakeOver& c) const { return {c.seen.scope, c.seen.key}; }
  Place operator()(const command::Settle& c) const { return {c.seen.scope, c.seen.key}; }
  Place operator()(const command::Sweep&) const { std::abort(); }
  Place operator()(const auto& c) const { return {c.token.scope, c.token.key}; }
};

}  // namespace

Transition apply(const Command& command, std::optional<Held> held, const Now& now) {
  return std::visit(Table(std::move(held), now), command);
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

bool lapsed(const Held& held, const Now& now) {
  return !held.lease_ends || *held.lease_ends <= now.mono;
}

std::optional<WallTime> after(WallTime now, milliseconds span) {
  constexpr WallTime kEndOfCalendar{std::chrono::sys_days{std::chrono::year{9999} / 12 / 31}};
  if (span >= kEndOfCalendar - now) return std::nullopt;
  return now + span;
}

}  // namespace stet::stores
