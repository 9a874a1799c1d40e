#pragma once
// Operators' JSON: the same from the admin port and from `stet keys … --format json` (docs/operating.md).

#include <optional>
#include <string>
#include <string_view>

#include "stet/error.hpp"
#include "stet/store.hpp"

namespace stet::admin {

// {"id", "scope", "key", "method", "path", "state", "attempt", "maybe_executed", "status", "created_at",
//  "lease_until", "expires_at"}; times RFC 3339, null where there is none; `scope` as its hash.
// `whole` adds "headers", "body_base64", "body_kept", "on_unknown", "recovery_point".
enum class Detail { line, whole };
std::string operation_json(const Record&, Detail);
// {"operations": […], "next"}; next is null at the end.
std::string page_json(const Page&);
// {"expired", "removed", "clock": "sane" | "jumped"}
std::string swept_json(const result::Swept&);
// {"error": "…"}
std::string error_json(std::string_view what);

std::string scope_hash(std::string_view scope);  // 64 hex digits; a scope that is one already stays
std::string rfc3339(WallTime);                   // "2026-01-31T09:05:00.123Z"
std::optional<WallTime> parse_rfc3339(std::string_view);

// ---- settling ----
enum class Force { no, yes };
// {"release": true, "force"?} or {"status", "headers"?: [[n, v]], "body" | "body_base64"?}
struct SettleRequest {
  std::optional<Answer> answer;  // none: release
  Force force = Force::no;
};
Expected<SettleRequest, std::string> parse_settle(std::string_view json);
std::string settle_json(const SettleRequest&);

// Whether an operator may settle this record now, and the command that does it. `completion_timeout` is the
// route's: within it the last attempt may still be running at the upstream, so that a release needs force.
enum class SettleRefusal { settled_already, still_owned, too_fresh };
Expected<command::Settle, SettleRefusal> plan_settle(const Record&, const SettleRequest&, WallTime now,
                                                     milliseconds completion_timeout);
std::string_view explain(SettleRefusal);  // one sentence for the operator

}  // namespace stet::admin
