#include "probe/checks/check.hpp"

namespace stet::probe {
namespace {

// With the body of `like` where the two routes take the same: then nothing but the route tells the requests
// apart.
Request other_request(Subject& subject, const Request& like) {
  const Settings& settings = subject.settings();
  Request other = subject.minted(*settings.other);
  if (settings.other->body == settings.request.body) other.body = like.body;
  return subject.with_key(other, *find_header(like.headers, settings.key_header));
}

Finding run(Subject& subject) {
  Finding finding;
  finding.did = "used the same key on another path or method";
  finding.expected = "not the first request's answer";
  if (!subject.settings().other)
    return std::move(finding).skipped("no other route was named (--other 'POST /path')");
  const Request request = subject.fresh();
  const Outcome own = subject.send(other_request(subject, subject.fresh()));
  if (!own) {
    return std::move(finding).skipped("the other route does not answer under a fresh key: " +
                                      own.error().detail);
  }
  const Subject::Settled first = subject.settle(request);
  if (first.meaning != Meaning::success) {
    return std::move(finding).failed(Harm::stuck, "first: " + brief(first.outcome),
                                     "a plain request did not succeed");
  }
  const Outcome second = subject.send(other_request(subject, request));
  const std::string seen = "alone: " + brief(own) + "; under the used key: " + brief(second);
  if (!second)
    return std::move(finding).failed(Harm::stuck, seen, "another route under a used key gets no answer");
  const std::string key = *find_header(request.headers, subject.settings().key_header);
  const bool first_again = second->status == first.outcome->status && second->body == first.outcome->body;
  const bool would_say_so_anyway = own->status == second->status && own->body == second->body;
  if ((first_again && !would_say_so_anyway) ||
      leaks(*first.outcome, *second, {key, own->body, request.body})) {
    return std::move(finding).failed(Harm::lost, seen,
                                     "a request to another route got the first route's answer and never ran");
  }
  if (second->status >= 500 && own->status < 500) {
    return std::move(finding).failed(Harm::form, seen, "a used key on another route ends in a server error");
  }
  if (first_again) {
    return std::move(finding).warned(seen + ": both routes answer alike, so this says nothing");
  }
  return std::move(finding).passed(seen);
}

}  // namespace

const Check checks::other_route = {
    "other-route", "Is a key used on one route unknown, or refused, on another?",
    R"(Why: a client that derives its key from the order ("order-17") uses it for the charge and for the refund. If the key
alone is looked up, the refund is answered with the charge's 201 and never runs.

In production: a middleware keeps one table for all routes and looks at nothing but the header.

Fix: method and path are part of the fingerprint (a used key elsewhere is a 422 that names the first use), or part of the
primary key (two routes, two operations). Either is safe; choose one and write it into your documentation.

  PRIMARY KEY (caller, method, path, key)      -- or the fingerprint over method, path, query and body)",
    &run};

}  // namespace stet::probe
