#pragma once
// From a request to an identity: key, scope, fingerprint (http.md, "The key", "The scope", "The
// fingerprint"). Pure: what a scope needs from outside (a JWT's verification key is configuration; an auth
// subrequest is not) is handed in.

#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include "config/config.hpp"
#include "http/message.hpp"
#include "stet/error.hpp"
#include "stet/shown.hpp"

namespace stet::identify {

// Why a request has no identity: becomes the problem of that name.
struct Refusal {
  Problem problem;
  std::string detail;
};

// ---- the key ----
struct NoKey {};  // absent on an optional route: the request is not protected
struct Key {
  std::string value;  // what the record is stored under: 1 to 255 characters of printable ASCII
  std::string
      spelling;  // what goes upstream after key_spelling, in the route's first key header and no other
};
// For a method that the route keys (config::Route::key_mode). `body` is the whole body for key_from =
// "json:…", and not looked at otherwise. More than one key header, also of different names or with equal
// values, is key-invalid: which of them the next attempt keeps is anybody's guess.
std::variant<Key, NoKey, Refusal> find_key(const config::Route&, const http::RequestHead&,
                                           std::string_view body);

// What goes upstream for a stored key when the request is gone (reconciling): its spelling, as_is being bare.
std::string upstream_key(std::string_view stored, config::KeySpelling);

// ---- the scope ----
struct Scope {
  std::string value;    // 64 lower-case hex digits: SHA-256 over the rule and its parts; names no caller
  std::string rule;     // how it was found, for Terms::scope_rule and the status location
  bool shared = false;  // no credentials of any kind: the log says so once
};
// The route's scope rule needs the auth subrequest first?
bool needs_principal(const config::Route&);
// `now` is wall time for a token's exp and nbf. `principal` is what the auth subrequest answered.
Expected<Scope, Refusal> find_scope(const config::Config&, const config::Route&, const http::RequestHead&,
                                    WallTime now, std::optional<std::string_view> principal);
// A rule is "default", or the parts as configured with a space between them ("header:x-account jwt:sub").
// The same for a stored rule (Terms::scope_rule), for the status location. A rule that this configuration
// cannot follow is a Refusal.
Expected<Scope, Refusal> find_scope_by_rule(const config::Config&, std::string_view rule,
                                            const http::RequestHead&, WallTime now,
                                            std::optional<std::string_view> principal);
bool rule_needs_principal(std::string_view rule);

// ---- the fingerprint ----
// What is hashed of a request; `body` is de-chunked and otherwise as it came.
struct Subject {
  std::string_view method;
  std::string_view target;  // path with query, as it came
  const http::Fields& fields;
  std::string_view body;
};
Fingerprint make_fingerprint(const config::FingerprintSettings&, const Subject&);
// The fingerprint that `recipe` makes of this request; nothing when this build or these settings (a secret
// that is gone) cannot follow it.
std::optional<Fingerprint> remake_fingerprint(const config::FingerprintSettings&, const Recipe&,
                                              const Subject&);

}  // namespace stet::identify
