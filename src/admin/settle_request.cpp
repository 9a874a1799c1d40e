#include <algorithm>
#include <boost/json/object.hpp>
#include <boost/json/parse.hpp>
#include <boost/json/value.hpp>

#include "admin/base64.hpp"
#include "admin/operations_json.hpp"
#include "config/units.hpp"
#include "http/message.hpp"

namespace stet::admin {
namespace {

namespace json = boost::json;

std::string as_text(json::string_view text) {
  return {text.data(), text.size()};
}

// Framing is written anew for each caller, and the gateway's own headers say what is true of each answer.
std::string header_error(const Header& header) {
  if (!config::is_token(header.name)) return "\"" + header.name + "\" is no header name";
  if (header.value.find_first_of(std::string_view("\r\n\0", 3)) != std::string::npos)
    return "the value of " + header.name + " has a line break or NUL in it";
  for (const std::string_view own : {"content-length", "transfer-encoding", "connection", "keep-alive", "te",
                                     "trailer", "upgrade", "idempotent-replayed"})
    if (http::iequals(header.name, own))
      return header.name + " cannot be stored; the gateway writes it itself";
  if (header.name.size() > 5 && http::iequals(std::string_view(header.name).substr(0, 5), "stet-"))
    return header.name + " cannot be stored; the gateway writes it itself";
  return {};
}

std::string read_headers(const json::value& value, Headers& out) {
  if (!value.is_array()) return "headers: a list of [name, value] pairs was meant";
  for (const json::value& pair : value.get_array()) {
    if (!pair.is_array() || pair.get_array().size() != 2 || !pair.get_array()[0].is_string() ||
        !pair.get_array()[1].is_string())
      return "headers: a list of [name, value] pairs was meant";
    Header header{as_text(pair.get_array()[0].get_string()), as_text(pair.get_array()[1].get_string())};
    if (std::string error = header_error(header); !error.empty()) return "headers: " + error;
    out.push_back(std::move(header));
  }
  return {};
}

std::string read_answer(const json::object& object, Answer& out) {
  const json::value* status = object.if_contains("status");
  if (!status || !status->is_int64() || status->get_int64() < 200 || status->get_int64() > 599)
    return "status: a final status from 200 to 599 was meant";
  out.status = static_cast<int>(status->get_int64());
  if (const json::value* headers = object.if_contains("headers"))
    if (std::string error = read_headers(*headers, out.headers); !error.empty()) return error;
  const json::value* body = object.if_contains("body");
  const json::value* encoded = object.if_contains("body_base64");
  if (body && encoded) return "body and body_base64 exclude each other";
  if (body) {
    if (!body->is_string()) return "body: a string was meant; other bytes go into body_base64";
    out.body = as_text(body->get_string());
  }
  if (encoded) {
    const auto bytes = encoded->is_string() ? from_base64(as_text(encoded->get_string())) : std::nullopt;
    if (!bytes) return "body_base64: base64 with padding (RFC 4648) was meant";
    out.body = *bytes;
  }
  if ((out.status == 204 || out.status == 205 || out.status == 304) && !out.body.empty())
    return "a " + std::to_string(out.status) + " has no body (RFC 9110)";
  return {};
}

// Whether the last attempt may still be running at the upstream. Its start is known for the first attempt
// alone; the lease of a later one shows until when it was alive.
bool may_still_run(const Record& record, WallTime now, milliseconds completion_timeout) {
  if (record.token.attempt > 1 && !record.lease_until) return true;
  const WallTime last = std::max(record.created_at, record.lease_until.value_or(record.created_at));
  return now - last < completion_timeout;
}

}  // namespace

Expected<SettleRequest, std::string> parse_settle(std::string_view text) {
  json::error_code error;
  const json::value value = json::parse(json::string_view(text.data(), text.size()), error);
  if (error || !value.is_object()) return unexpected<std::string>("a JSON object was meant");
  const json::object& object = value.get_object();
  for (const auto& member : object) {
    const std::string name = as_text(member.key());
    if (name != "release" && name != "force" && name != "status" && name != "headers" && name != "body" &&
        name != "body_base64")
      return unexpected<std::string>("unknown member \"" + name + "\"");
  }
  const auto flag = [&](std::string_view name) -> std::optional<bool> {
    const json::value* said = object.if_contains(json::string_view(name.data(), name.size()));
    if (!said) return false;
    if (!said->is_bool()) return std::nullopt;
    return said->get_bool();
  };
  const auto release = flag("release"), force = flag("force");
  if (!release || !force) return unexpected<std::string>("release and force are true or false");
  SettleRequest request;
  request.force = *force ? Force::yes : Force::no;
  const bool answers = object.contains("status") || object.contains("headers") || object.contains("body") ||
                       object.contains("body_base64");
  if (*release && answers) return unexpected<std::string>("release and an answer exclude each other");
  if (!*release && !answers)
    return unexpected<std::string>(
        "{\"release\": true} or an answer {\"status\", \"headers\", \"body\"} was meant");
  if (*release) return request;
  std::string wrong = read_answer(object, request.answer.emplace());
  if (!wrong.empty()) return unexpected<std::string>(std::move(wrong));
  return request;
}

Expected<command::Settle, SettleRefusal> plan_settle(const Record& record, const SettleRequest& request,
                                                     WallTime now, milliseconds completion_timeout) {
  if (record.state != State::pending && record.state != State::unknown)
    return unexpected<SettleRefusal>(SettleRefusal::settled_already);
  if (record.state == State::pending && record.lease_until && *record.lease_until > now)
    return unexpected<SettleRefusal>(SettleRefusal::still_owned);
  if (!request.answer && request.force == Force::no && may_still_run(record, now, completion_timeout))
    return unexpected<SettleRefusal>(SettleRefusal::too_fresh);
  return command::Settle{record.token, Nonce::random(), request.answer};
}

std::string_view explain(SettleRefusal refusal) {
  switch (refusal) {
    case SettleRefusal::settled_already:
      return "only an unknown or lapsed operation can be settled; this one has its answer";
    case SettleRefusal::still_owned:
      return "the operation is running under a live lease; its owner will settle it";
    case SettleRefusal::too_fresh:
      return "the last attempt may still be running at the upstream (it began less than completion_timeout "
             "ago, or its "
             "time is not recorded); a release needs force, when you know that it is not";
  }
  return {};
}

}  // namespace stet::admin
