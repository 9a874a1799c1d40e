#include "stet/decide.hpp"

namespace stet {
namespace {

using First = Settlement::First;
using Holds = Settlement::Holds;
using Says = upstream::Answered::Says;
using Write = Settlement::Write;

Settlement unknown(const Policy& policy, std::optional<int> upstream_status) {
  const bool another_may_run = policy.terms.on_unknown != OnUnknown::fail;
  return {another_may_run ? Write::give_back : Write::settle_unknown,
          outcome_unknown(policy.terms.on_unknown, upstream_status), Holds::already, First::write};
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

Shown unreachable(Earlier earlier, std::string detail) {
  Shown shown = problem(Problem::upstream_unreachable, nothing_happened(earlier), std::move(detail));
  shown.new_key_safe = earlier == Earlier::none_unknown;
  return shown;
}

// An upstream that joins has recorded what it committed. While the record is pending it has committed
// nothing, and freeing the record sees to it that it never will: until that is durable, it still may.
Settlement joined(const Answer& from_upstream, Says says, ShownKind kind, Earlier earlier) {
  const bool success = from_upstream.status >= 200 && from_upstream.status <= 399;
  if (success && says == Says::nothing) {
    // Said to be done, and not recorded with it: the promise to join is broken. At most once comes first.
    return {Write::complete, answer(from_upstream, kind, Outcome::completed), Holds::once_written,
            First::look};
  }
  return {Write::release, answer(from_upstream, kind, nothing_happened(earlier)), Holds::once_written,
          First::look};
}

Settlement answered(const Answer& from_upstream, Says says, ShownKind kind, const Policy& policy,
                    Earlier earlier) {
  if (policy.terms.on_unknown == OnUnknown::joined) return joined(from_upstream, says, kind, earlier);
  const StatusMeaning meaning = policy.statuses.meaning(from_upstream.status);
  if (says == Says::not_executed || meaning == StatusMeaning::release) {
    return {Write::release, answer(from_upstream, kind, nothing_happened(earlier)), Holds::already,
            First::write};
  }
  if (meaning == StatusMeaning::unknown) return unknown(policy, from_upstream.status);
  // It may be the upstream's own "this key is in use", said of the attempt whose outcome we do not know.
  const bool refusal = from_upstream.status >= 400 && from_upstream.status <= 499;
  if (refusal && earlier == Earlier::one_unknown && policy.terms.on_unknown == OnUnknown::retry) {
    return {Write::give_back, answer(from_upstream, kind, Outcome::unknown), Holds::already, First::write};
  }
  return {Write::complete, answer(from_upstream, kind, Outcome::completed), Holds::once_written,
          First::write};
}

}  // namespace

Settlement settle(const UpstreamOutcome& outcome, const Policy& policy, Earlier earlier) {
  struct Table {
    const Policy& policy;
    Earlier earlier;

    Settlement operator()(const upstream::NotSent& o) const {
      return {Write::release, unreachable(earlier, "Nothing was sent to the upstream: " + o.why + "."),
              Holds::already, First::write};
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
    Settlement operator()(const upstream::Lost&) const {
      if (policy.terms.on_unknown != OnUnknown::joined) return unknown(policy, std::nullopt);
      // Fenced if it recorded its answer after all: that one is shown then.
      return {Write::release,
              unreachable(earlier,
                          "No whole answer came from the upstream. It had committed nothing, and what it may "
                          "still try to commit of this attempt is refused."),
              Holds::once_written, First::write};
    }
  };
  return std::visit(Table{policy, earlier}, outcome);
}

}  // namespace stet
