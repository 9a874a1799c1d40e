#include "stet/decide.hpp"

namespace stet {
namespace {

Settlement unknown(const Policy& policy, std::optional<int> upstream_status) {
  const bool another_may_run = policy.terms.on_unknown != OnUnknown::fail;
  return {another_may_run ? Settlement::Write::give_back : Settlement::Write::settle_unknown,
          outcome_unknown(policy.terms.on_unknown, upstream_status)};
}

Shown answer(const Answer& from_upstream, ShownKind kind, Outcome outcome) {
  Shown shown;
  shown.kind = kind;
  shown.outcome = outcome;
  shown.answer = from_upstream;
  return shown;
}

// This attempt did nothing; whether the operation did depends on the attempts before it.
Outcome nothing_happened(Earlier earlier) {
  return earlier == Earlier::none_unknown ? Outcome::not_executed : Outcome::unknown;
}

Settlement answered(const Answer& from_upstream, upstream::Answered::Says says, ShownKind kind,
                    const Policy& policy, Earlier earlier) {
  const StatusMeaning meaning = policy.statuses.meaning(from_upstream.status);
  if (says == upstream::Answered::Says::not_executed || meaning == StatusMeaning::release) {
    return {Settlement::Write::release, answer(from_upstream, kind, nothing_happened(earlier))};
  }
  if (meaning == StatusMeaning::unknown) return unknown(policy, from_upstream.status);
  // It may be the upstream's own "this key is in use", said of the attempt whose outcome we do not know.
  const bool refusal = from_upstream.status >= 400 && from_upstream.status <= 499;
  if (refusal && earlier == Earlier::one_unknown && policy.terms.on_unknown == OnUnknown::retry) {
    return {Settlement::Write::give_back, answer(from_upstream, kind, Outcome::unknown)};
  }
  return {Settlement::Write::complete, answer(from_upstream, kind, Outcome::completed)};
}

}  // namespace

Settlement settle(const UpstreamOutcome& outcome, const Policy& policy, Earlier earlier) {
  struct Table {
    const Policy& policy;
    Earlier earlier;

    Settlement operator()(const upstream::NotSent& o) const {
      Shown shown = problem(Problem::upstream_unreachable, nothing_happened(earlier),
                            "Nothing was sent to the upstream: " + o.why + ".");
      shown.new_key_safe = earlier == Earlier::none_unknown;
      return {Settlement::Write::release, std::move(shown)};
    }
    Settlement operator()(const upstream::Answered& o) const {
      return answered(o.answer, o.says, ShownKind::answer, policy, earlier);
    }
    Settlement operator()(const upstream::TooLarge& o) const {
      Answer head = o.head;
      head.kept = Kept::head_only;
      head.body.clear();
      return answered(head, o.says, ShownKind::stream, policy, earlier);
    }
    Settlement operator()(const upstream::Lost&) const { return unknown(policy, std::nullopt); }
  };
  return std::visit(Table{policy, earlier}, outcome);
}

}  // namespace stet
