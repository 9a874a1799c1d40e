#pragma once
// Middleware: makes a handler (a request in, an answer out, in one transaction) safe to retry, by the same
// contract as the gateway's (docs/http.md): the key's header and its forms, the fingerprint, the problems,
// the headers.
//
//   auto create_order = stet::http::idempotent(
//       {.scope = stet::http::scope_of_header("X-Account")},
//       [&] { return pool.transaction(); },
//       [](const stet::http::Request& request, stet::sqlite::Transaction& tx) {
//         …your statements on tx.handle()…
//         return stet::http::Response{201, {{"Content-Type", "application/json"}}, "{\"id\":42}"};
//       });
//   stet::http::Response response = create_order(request);
//
// Threads: what it returns may be called by many at a time if your functions may.
// Errors: store trouble (StoreError, the handler's own included) becomes 503 store-unavailable, and
// Options::on_store_error hears why. What else the handler throws passes through, after a roll-back, and so
// does std::invalid_argument for an answer whose status is not one of 100 to 599.

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "stet/http/message.hpp"
#include "stet/run_once.hpp"

namespace stet::http {

enum class Key : std::uint8_t {
  required,  // 400 key-missing without one
  optional,  // without one the handler runs unprotected
};

// Whose key it is: the same for every attempt of one caller, and never the same for two callers who must not
// see each other's answers. An account's id, say; not a token that is refreshed between attempts. Nothing, an
// empty text or one of more than 1,000 bytes: 400 scope-undefined.
using Scope = std::function<std::optional<std::string>(const Request&)>;
Scope scope_of_header(std::string name);  // of one that your ingress has set and callers cannot
Scope one_scope();                        // one for everybody: whoever knows a key may see its answer

struct Options {
  Scope scope{};

  std::string key_header = "Idempotency-Key";
  Key key = Key::required;

  // The fingerprint says which requests are the same (docs/identity.md).
  std::vector<std::string> fingerprint_ignore{};   // JSON pointers (RFC 6901), such as "/sent_at"
  std::vector<std::string> fingerprint_only{};     // only these
  std::vector<std::string> fingerprint_headers{};  // these headers, too

  RunOptions run{};  // `refingerprint` is filled in

  // Hears of each StoreError that a caller is shown as 503 (or 500, a damaged record), before it is: what()
  // says why, for your log; the caller is not told. From whichever threads call the middleware; must not throw.
  std::function<void(const StoreError&)> on_store_error{};
};

// The parts, for operations with phases and for frameworks of another shape.

// Who asks for what. An error is the whole answer: 400 key-missing, key-invalid or scope-undefined.
// std::nullopt: no key, on an optional route.
Expected<std::optional<Intent>, Response> identify(const Options&, const Request&);
// The fingerprint of the request by another recipe: for PhaseOptions::refingerprint.
std::optional<Fingerprint> refingerprint(const Options&, const Request&, const Recipe&);
// What the caller gets, with Stet-Outcome, Stet-Operation and, for a replay, Idempotent-Replayed.
Response answer(const RunResult&);
Response store_failed(
    const StoreError&);  // 503: the same request may be sent again; or 500, for a damaged record
// What of a handler's answer is kept: without Set-Cookie and authentication challenges, which belong to one
// caller and one moment, and without what belongs to one connection.
Answer kept(const Response&);

// In the transaction that is open on the session: claim, handler, answer. A handler that answers 401, 403,
// 408, 425, 429, 502, 503 or 504 says that it did nothing (Options::run.statuses): its rows are rolled back,
// and a retry runs. Any other answer is recorded and committed with whatever rows came before it, a 409 or a
// 500 too: so refuse before the first write, or throw.
struct Handled {
  Response response{};
  Then then = Then::roll_back;
};
Handled handle(const Options&, const Request&, Session&, const std::function<Response()>& handler);

// `begin()` gives your transaction, begun: an object with session() and commit(), which rolls back when it
// ends without (sqlite/transaction.hpp has one). `handler(request, transaction)` gives the Response.
template <class Begin, class Handler>
auto idempotent(Options options, Begin begin, Handler handler) {
  return [options = std::move(options), begin = std::move(begin),
          handler = std::move(handler)](const Request& request) -> Response {
    try {
      auto transaction = begin();
      Handled handled = handle(options, request, transaction.session(),
                               [&] { return Response(handler(request, transaction)); });
      if (handled.then == Then::commit) transaction.commit();
      return std::move(handled.response);
    } catch (const StoreError& error) {
      if (options.on_store_error) options.on_store_error(error);
      return store_failed(error);
    }
  };
}

}  // namespace stet::http
