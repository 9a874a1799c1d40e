#include "config/keys.hpp"
#include "config/route_values.hpp"

namespace stet::config {
namespace {

constexpr Where D = Where::defaults_and_route;
// A body is held in memory whole; what is larger belongs on an unkeyed route, which streams.
constexpr std::uint64_t kMaxBody = std::uint64_t{1} << 30;

const RouteKey kKeys[] = {
    {{"match", Where::route, "", R"("POST,PATCH /charges/*")",
      "METHOD[,METHOD] /path; * is one segment, ** the rest (required)"},
     &read_match},
    {{"key", D, "", R"("required")",
      "optional, required or off; default: optional on POST, PATCH and what a route names, required with key_from"},
     [](Reading& r, const Value& v, RouteDraft& d) {
       if (const auto c = read_choice<KeyMode>(
               r, v,
               {{"optional", KeyMode::optional}, {"required", KeyMode::required}, {"off", KeyMode::off}}))
         d.route.key = *c;
     }},
    {{"key_header", D, R"("Idempotency-Key")", R"(["Idempotency-Key", "X-Request-Key"])",
      "the header with the key; a list is tried in order"},
     &read_key_header},
    {{"key_from", D, R"("header")", R"("json:/invoice_number")",
      "header, json:/pointer, path:N or query:name"},
     &read_key_from},
    {{"key_spelling", D, R"("bare")", R"("quoted")", "how the key goes upstream: bare, quoted or as-is"},
     [](Reading& r, const Value& v, RouteDraft& d) {
       if (const auto c = read_choice<KeySpelling>(
               r, v,
               {{"bare", KeySpelling::bare}, {"quoted", KeySpelling::quoted}, {"as-is", KeySpelling::as_is}}))
         d.route.key_spelling = *c;
     }},
    {{"scope", D, "", R"(["header:X-Account"])",
      "whose key it is: credentials, header:NAME, cookie:NAME, jwt:CLAIM, auth, none; default: the careful "
      "one"},
     &read_scope},
    {{"fingerprint.ignore", D, "[]", R"(["/sent_at"])",
      "members of a JSON body that may differ between attempts"},
     [](Reading& r, const Value& v, RouteDraft& d) { read_pointers(r, v, d.route.fingerprint.ignore); }},
    {{"fingerprint.only", D, "[]", R"(["/amount", "/customer"])", "the only members that count"},
     [](Reading& r, const Value& v, RouteDraft& d) { read_pointers(r, v, d.route.fingerprint.only); }},
    {{"fingerprint.headers", D, "[]", R"(["X-Currency"])", "headers that count"},
     [](Reading& r, const Value& v, RouteDraft& d) { read_field_names(r, v, d.route.fingerprint.headers); }},
    {{"fingerprint.secret", D, "", R"("env:STET_FINGERPRINT_SECRET")",
      "makes the fingerprint an HMAC (secret, or a list: the first signs, all verify)"},
     &read_fingerprint_secrets},
    {{"in_progress", D, R"("conflict")", R"("wait")",
      "what a retry gets while the first runs: conflict, wait or accept"},
     [](Reading& r, const Value& v, RouteDraft& d) {
       if (const auto c = read_choice<InProgressMode>(r, v,
                                                      {{"conflict", InProgressMode::conflict},
                                                       {"wait", InProgressMode::wait},
                                                       {"accept", InProgressMode::accept}}))
         d.route.policy.in_progress = *c;
     }},
    {{"wait", D, R"("10s")", R"("2s")", "how long in_progress = \"wait\" holds a retry"},
     [](Reading& r, const Value& v, RouteDraft& d) { read_duration(r, v, d.route.policy.wait); }},
    {{"retention", D, R"("24h")", R"("forever")", "how long an answer is replayed, at least"},
     [](Reading& r, const Value& v, RouteDraft& d) {
       read_duration(r, v, d.route.policy.terms.retention, Zero::refused, Forever::allowed);
     }},
    {{"tombstone", D, R"("24h")", R"("0s")", "how long after that the key stays refused"},
     [](Reading& r, const Value& v, RouteDraft& d) {
       read_duration(r, v, d.route.policy.terms.tombstone, Zero::allowed);
     }},
    {{"lease", D, R"("30s")", R"("10s")", "how long a dead gateway blocks a key"},
     [](Reading& r, const Value& v, RouteDraft& d) { read_duration(r, v, d.route.policy.lease); }},
    {{"on_unknown", D, R"("fail")", R"("fail")", "when the outcome is not known: fail, retry or ask"},
     [](Reading& r, const Value& v, RouteDraft& d) {
       if (const auto c = read_choice<OnUnknown>(
               r, v, {{"fail", OnUnknown::fail}, {"retry", OnUnknown::retry}, {"ask", OnUnknown::ask}}))
         d.route.policy.terms.on_unknown = *c;
     }},
    {{"upstream_idempotent", D, "false", "true",
      "the upstream deduplicates on the key, for at least the retention"},
     [](Reading& r, const Value& v, RouteDraft& d) {
       bool promised = d.route.policy.promise == UpstreamPromise::idempotent;
       read_flag(r, v, promised);
       d.route.policy.promise = promised ? UpstreamPromise::idempotent : UpstreamPromise::none;
     }},
    {{"upstream_joins", D, "false", "true",
      "the upstream records the answer in the transaction of its rows (needs the PostgreSQL store)"},
     [](Reading& r, const Value& v, RouteDraft& d) { read_flag(r, v, d.route.upstream_joins); }},
    {{"reconcile.url", D, "", R"("http://127.0.0.1:4000/outcome")", "asked by on_unknown = \"ask\""},
     [](Reading& r, const Value& v, RouteDraft& d) { read_url_text(r, v, d.route.reconcile_url); }},
    {{"on_store_failure", D, R"("closed")", R"("open")",
      "without a store: refuse (closed), or pass on unprotected (open)"},
     [](Reading& r, const Value& v, RouteDraft& d) {
       if (const auto c = read_choice<OnStoreFailure>(
               r, v, {{"closed", OnStoreFailure::closed}, {"open", OnStoreFailure::open}}))
         d.route.policy.on_store_failure = *c;
     }},
    {{"record", D, "", R"([503])", "statuses and classes that are kept and replayed, beyond the usual"},
     [](Reading& r, const Value& v, RouteDraft& d) { read_statuses(r, v, d, StatusMeaning::record); }},
    {{"release", D, "", R"([400, 503])", "those that say that nothing was done, so that a retry runs"},
     [](Reading& r, const Value& v, RouteDraft& d) { read_statuses(r, v, d, StatusMeaning::release); }},
    {{"unknown", D, "", R"(["5xx"])", "those that leave the outcome open"},
     [](Reading& r, const Value& v, RouteDraft& d) { read_statuses(r, v, d, StatusMeaning::unknown); }},
    {{"response_timeout", D, R"("30s")", R"("5s")", "when a caller is told 504 still-running"},
     [](Reading& r, const Value& v, RouteDraft& d) { read_duration(r, v, d.route.policy.response_timeout); }},
    {{"completion_timeout", D, R"("10m")", R"("1h")", "how long a late answer is waited for"},
     [](Reading& r, const Value& v, RouteDraft& d) {
       read_duration(r, v, d.route.policy.completion_timeout);
     }},
    {{"max_request_body", D, R"("1MiB")", R"("64KiB")", "body of a keyed request"},
     [](Reading& r, const Value& v, RouteDraft& d) {
       read_size(r, v, d.route.max_request_body, 0, kMaxBody);
     }},
    {{"max_response_body", D, R"("1MiB")", "0", "body of a kept answer; 0 keeps no body"},
     [](Reading& r, const Value& v, RouteDraft& d) {
       read_size(r, v, d.route.max_response_body, 0, kMaxBody);
     }},
    {{"response.keep_headers", D, "[]", R"(["Set-Cookie"])",
      "headers replayed although they are usually left out"},
     [](Reading& r, const Value& v, RouteDraft& d) { read_field_names(r, v, d.route.keep_headers); }},
    {{"response.drop_headers", D, "[]", R"(["X-Request-Id"])", "headers left out of replays"},
     [](Reading& r, const Value& v, RouteDraft& d) { read_field_names(r, v, d.route.drop_headers); }},
    {{"status.in_progress", D, "409", "425", "instead of 409 in-progress"},
     [](Reading& r, const Value& v, RouteDraft& d) { read_status(r, v, d.route.status_in_progress); }},
    {{"status.key_reused", D, "422", "400", "instead of 422 key-reused"},
     [](Reading& r, const Value& v, RouteDraft& d) { read_status(r, v, d.route.status_key_reused); }},
};

constexpr LaterKey kLater[] = {
    {"tls.certificate", Where::top,
     "TLS on the listener is not in this release; an ingress in front can speak it"},
    {"tls.key", Where::top, "TLS on the listener is not in this release; an ingress in front can speak it"},
    {"store_options.allow_loss", Where::top, "a setting of the Redis store, which is not in this release"},
    {"store_options.wait_replicas", Where::top, "a setting of the Redis store, which is not in this release"},
    {"webhook", Where::route, "webhook routes come in a later release"},
    {"secret", Where::route, "webhook routes, and their secret, come in a later release"},
    {"delivery", Where::route, "webhook routes, and their delivery, come in a later release"},
};

}  // namespace

std::span<const RouteKey> route_keys() {
  return kKeys;
}
std::span<const LaterKey> later_keys() {
  return kLater;
}

std::vector<KeyInfo> all_keys() {
  std::vector<KeyInfo> all;
  for (const TopKey& key : top_keys()) all.push_back(key.info);
  for (const RouteKey& key : route_keys()) all.push_back(key.info);
  return all;
}

}  // namespace stet::config
