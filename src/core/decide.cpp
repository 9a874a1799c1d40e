#include "stet/decide.hpp"

namespace stet {
namespace {

Decision lapsed(const result::Lapsed& found, const Policy& policy, RunsHere runs_here) {
  // Its owner is alive in this process and only late with its renewal: it renews, we wait (protocol.md, rule
  // 6).
  if (runs_here == RunsHere::yes) return decision::Wait{std::chrono::seconds(1)};
  switch (found.terms.on_unknown) {
    case OnUnknown::retry:
      // The record allows it, and so must the route as it is configured now: only an upstream that drops
      // repeats makes a second sending safe.
      if (policy.promise == UpstreamPromise::idempotent) return decision::TakeOver{found.token};
      break;
    case OnUnknown::ask:
      return decision::Ask{found.token};
    case OnUnknown::joined:
      // Pending proves that it did nothing, and the take-over makes sure that it never will. The next attempt
      // needs an upstream that joins as well: the route may have been changed since.
      if (policy.promise == UpstreamPromise::joins) return decision::TakeOver{found.token};
      break;
    case OnUnknown::fail:
      break;
  }
  return decision::SettleUnknown{found.token};
}

Shown key_reused(const result::Mismatch& found) {
  // A session with an application's rights is not told what the first request was.
  const std::string first = found.method.empty() ? "" : ": " + found.method + " " + found.path;
  return problem(Problem::key_reused, outcome_of(found.state),
                 "This key was first used for a different request" + first +
                     ". A retry must repeat the first request; a new intent needs a new key.");
}

}  // namespace

Decision decide(const Result& result, const Policy& policy, const Recipe& recipe, RunsHere runs_here) {
  struct Table {
    const Policy& policy;
    const Recipe& recipe;
    RunsHere runs_here;

    Decision operator()(const result::Claimed&) const { return decision::Run{}; }
    Decision operator()(const result::Replay& r) const {
      return decision::Show{replay(r.answer, r.expires_at)};
    }
    Decision operator()(const result::InProgress& r) const { return decision::Wait{r.retry_after}; }
    Decision operator()(const result::Mismatch& r) const {
      if (r.stored.recipe != recipe) return decision::Compare{r.stored.recipe};
      return decision::Show{key_reused(r)};
    }
    Decision operator()(const result::Lapsed& r) const { return lapsed(r, policy, runs_here); }
    // Whatever its route says of unknown attempts: this one was settled, and only an operator changes that.
    Decision operator()(const result::Unknown&) const {
      return decision::Show{outcome_unknown(OnUnknown::fail, std::nullopt)};
    }
    Decision operator()(const result::Expired&) const {
      return decision::Show{
          problem(Problem::key_expired, Outcome::unknown,
                  "This key was used before, and its answer is no longer kept. Sending the intent "
                  "again could execute it a second time; check what the first one did.")};
    }
    // No claim is answered so: a store that does is broken, and nothing may run on its word.
    Decision operator()(const result::Ok&) const { return broken(); }
    Decision operator()(const result::Fenced&) const { return broken(); }
    Decision operator()(const result::Swept&) const { return broken(); }
    static Decision broken() {
      return decision::Show{
          problem(Problem::store_corrupt, Outcome::unknown, "The store gave an answer that no claim has.")};
    }
  };
  return std::visit(Table{policy, recipe, runs_here}, result);
}

Reconcile reconcile(const Record& lapsed, UpstreamPromise now) {
  switch (lapsed.terms.on_unknown) {
    case OnUnknown::fail:
      return Reconcile::settle_unknown;
    case OnUnknown::ask:
      return Reconcile::ask;
    case OnUnknown::retry:
      return Reconcile::leave;  // the request is the client's: the next attempt brings it
    case OnUnknown::joined:
      // Somebody has found out since that this upstream does not join.
      if (now != UpstreamPromise::joins) return Reconcile::settle_unknown;
      // What it has reached is committed, and the next attempt goes on from there.
      if (!lapsed.recovery_point.empty()) return Reconcile::leave;
      return Reconcile::release;  // it did nothing, and the fence that frees the key makes that true for ever
  }
  return Reconcile::leave;
}

}  // namespace stet
