#include "admin/operations_json.hpp"

#include "admin/base64.hpp"
#include "admin/json_text.hpp"
#include "core/digest.hpp"
#include "http/problem.hpp"

namespace stet::admin {
namespace {

void add_time(JsonObject& object, std::string_view name, std::optional<WallTime> time) {
  if (time)
    object.add(name, rfc3339(*time));
  else
    object.add_raw(name, "null");
}

std::string headers_json(const Headers& headers) {
  std::string out = "[";
  for (const Header& header : headers) {
    if (out.size() > 1) out += ',';
    out += '[';
    http::append_json_string(out, header.name);
    out += ',';
    http::append_json_string(out, header.value);
    out += ']';
  }
  return out + "]";
}

}  // namespace

std::string scope_hash(std::string_view scope) {
  const bool is_hash = scope.size() == 64 && scope.find_first_not_of("0123456789abcdef") == scope.npos;
  return is_hash ? std::string(scope) : to_hex(sha256(scope));
}

std::string operation_json(const Record& record, Detail detail) {
  JsonObject object;
  object.add("id", record.id().text());
  object.add("scope", scope_hash(record.token.scope));
  object.add("key", record.token.key);
  object.add("method", record.method);
  object.add("path", record.path);
  object.add("state", name(record.state));
  object.add("attempt", static_cast<std::int64_t>(record.token.attempt));
  object.add_raw("maybe_executed", record.maybe_executed ? "true" : "false");
  if (record.answer)
    object.add("status", static_cast<std::int64_t>(record.answer->status));
  else
    object.add_raw("status", "null");
  add_time(object, "created_at", record.created_at);
  add_time(object, "lease_until", record.lease_until);
  add_time(object, "expires_at", record.expires_at);
  if (detail == Detail::line) return object.take();
  object.add("on_unknown", name(record.terms.on_unknown));
  object.add("recovery_point", record.recovery_point);
  if (record.answer) {
    object.add_raw("headers", headers_json(record.answer->headers));
    object.add("body_base64", to_base64(record.answer->body));
    object.add_raw("body_kept", record.answer->kept == Kept::whole ? "true" : "false");
  } else {
    for (const std::string_view member : {"headers", "body_base64", "body_kept"})
      object.add_raw(member, "null");
  }
  return object.take();
}

std::string page_json(const Page& page) {
  std::string list = "[";
  for (const Record& record : page.records) {
    if (list.size() > 1) list += ',';
    list += operation_json(record, Detail::line);
  }
  JsonObject object;
  object.add_raw("operations", list + "]");
  if (page.next.empty())
    object.add_raw("next", "null");
  else
    object.add("next", page.next);
  return object.take();
}

std::string swept_json(const result::Swept& swept) {
  JsonObject object;
  object.add("expired", static_cast<std::int64_t>(swept.expired));
  object.add("removed", static_cast<std::int64_t>(swept.removed));
  object.add("clock", swept.clock == result::SweepClock::sane ? "sane" : "jumped");
  return object.take();
}

std::string error_json(std::string_view what) {
  JsonObject object;
  object.add("error", what);
  return object.take();
}

std::string settle_json(const SettleRequest& request) {
  JsonObject object;
  if (request.answer) {
    object.add("status", static_cast<std::int64_t>(request.answer->status));
    object.add_raw("headers", headers_json(request.answer->headers));
    object.add("body_base64", to_base64(request.answer->body));
  } else {
    object.add_raw("release", "true");
  }
  if (request.force == Force::yes) object.add_raw("force", "true");
  return object.take();
}

}  // namespace stet::admin
