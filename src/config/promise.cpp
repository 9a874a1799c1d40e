#include "config/promise.hpp"

#include "config/units.hpp"

namespace stet::config {
namespace {

// The contradiction stands where this table says the one or the other; what it has inherited gives way.
void refuse(const RouteDraft& draft, std::string_view key, const std::string& what, Findings& findings) {
  const auto said = draft.own.find(key);
  if (said == draft.own.end()) return;
  findings.error(said->second, what + "; leave it out, or say upstream_joins = false");
}

}  // namespace

void check_promise(const RouteDraft& draft, Findings& findings) {
  const Route& route = draft.route;
  if (!route.upstream_joins) return;
  if (route.policy.terms.on_unknown != OnUnknown::fail)
    refuse(draft, "on_unknown",
           "on_unknown says what to do when nobody knows whether the write happened, and with upstream_joins "
           "the "
           "record says it",
           findings);
  if (route.policy.promise == UpstreamPromise::idempotent)
    refuse(draft, "upstream_idempotent",
           "upstream_idempotent and upstream_joins are two promises, of which the second makes the first "
           "needless",
           findings);
  if (route.policy.on_store_failure == OnStoreFailure::open)
    refuse(draft, "on_store_failure",
           "on_store_failure = \"open\" passes a write on without a claim, and so without anything that the "
           "upstream "
           "could join",
           findings);
  for (const std::string_view key : {"record", "release", "unknown"})
    if (const auto list = draft.lists.find(std::string(key));
        list != draft.lists.end() && !list->second.statuses.empty())
      refuse(
          draft, key,
          std::string(key) +
              " has no say with upstream_joins: an answer is kept when the upstream records it with its rows",
          findings);
}

void apply_promise(Route& route) {
  if (!route.upstream_joins) return;
  route.policy.promise = UpstreamPromise::joins;
  route.policy.terms.on_unknown = OnUnknown::joined;
  route.policy.on_store_failure = OnStoreFailure::closed;
}

bool sends_token(const Config& config) {
  return is_postgres_store(config.store) && !config.store_options.encryption_key;
}

}  // namespace stet::config
