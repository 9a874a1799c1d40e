#pragma once
// The whole configuration as data (docs/configuration.md). Parsed and checked by load.hpp; immutable
// afterwards: a reload makes a new one.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "stet/policy.hpp"

namespace stet::config {

struct Endpoint {
  std::string host;
  std::uint16_t port = 0;  // 0: the system picks
};

struct UpstreamUrl {
  enum class Scheme : std::uint8_t { http, https };
  Scheme scheme = Scheme::http;
  std::string host;
  std::uint16_t port = 80;
  std::string path;  // without a trailing slash; requests go below it
  std::string text;  // as written
};

enum class KeyMode : std::uint8_t { off, optional, required };
enum class KeySpelling : std::uint8_t { bare, quoted, as_is };
enum class LogFormat : std::uint8_t { json, text, off };
enum class LogKeys : std::uint8_t { hash, full, none };
enum class UpstreamHost : std::uint8_t { pass, upstream };
enum class Durability : std::uint8_t { full, os };

struct KeySource {
  enum class Kind : std::uint8_t { header, json, path, query };
  Kind kind = Kind::header;
  std::string json_pointer;  // json
  std::size_t segment = 0;   // path, from 1
  std::string parameter;     // query
  std::string text;          // as written, part of a natural key's namespace
};

struct ScopePart {
  enum class Kind : std::uint8_t { credentials, header, cookie, jwt, auth, client_cert, none };
  Kind kind = Kind::credentials;
  std::string name;  // of the header, cookie or claim
};

struct FingerprintSettings {
  std::vector<std::string> ignore;  // RFC 6901 pointers
  std::vector<std::string> only;
  std::vector<std::string> headers;  // lower case
  std::vector<std::string> secrets;  // resolved; the first signs, all verify
};

struct Match {
  struct Segment {
    enum class Kind : std::uint8_t { literal, any, rest };  // "charges", "*", "**"
    Kind kind = Kind::literal;
    std::string text;  // literal, decoded
    bool operator==(const Segment&) const = default;
  };
  std::vector<std::string> methods;
  std::string pattern;  // as written: "/charges/*"
  std::vector<Segment> segments;
};

struct Route {
  std::optional<Match> match;  // none: [defaults]
  std::string name;            // the match as written, or "defaults"
  std::optional<KeyMode> key;  // none: see key_mode
  std::vector<std::string> key_headers{"Idempotency-Key"};
  KeySource key_from;
  KeySpelling key_spelling = KeySpelling::bare;
  std::vector<ScopePart> scope;  // empty: the careful default of http.md
  FingerprintSettings fingerprint;
  Policy policy;
  std::string reconcile_url;
  bool upstream_joins = false;
  std::uint64_t max_request_body = 1 << 20;
  std::uint64_t max_response_body = 1 << 20;
  std::vector<std::string> keep_headers;  // lower case
  std::vector<std::string> drop_headers;  // lower case
  int status_in_progress = 409;
  int status_key_reused = 422;

  // Safe methods are never keyed; PUT, DELETE and others only on a route that names them.
  KeyMode key_mode(std::string_view method) const;
};

struct Limits {
  std::size_t connections = 10'000;
  std::size_t request_line = 8 << 10;
  std::size_t headers = 32 << 10;
  std::size_t header_fields = 100;
  milliseconds header_timeout = std::chrono::seconds(10);
  milliseconds body_idle_timeout = std::chrono::seconds(30);
  milliseconds keep_alive = std::chrono::seconds(60);
  std::uint64_t buffered_bodies = 256 << 20;
  std::size_t waiters = 1024;
  std::size_t waiters_per_key = 64;
};

struct StoreOptions {
  std::optional<std::string> encryption_key;  // resolved; 32 bytes
  Durability durability = Durability::full;
  std::uint64_t free_space_floor = 256 << 20;
  std::uint64_t ballast = 64 << 20;
  std::size_t pool = 2;  // connections to PostgreSQL
  bool operator==(const StoreOptions&) const = default;
};

struct Jwt {
  std::optional<std::string> secret;      // resolved; HS256
  std::optional<std::string> public_key;  // PEM, resolved; RS256 and ES256
  std::optional<std::string> issuer;
  std::optional<std::string> audience;
};

struct Config {
  Endpoint listen{"127.0.0.1", 8080};
  Endpoint admin{"127.0.0.1", 9090};
  std::vector<UpstreamUrl> upstream;
  std::string store = "sqlite:stet.db";
  std::optional<std::string> admin_token;
  std::optional<milliseconds> drain;  // none: the longest response_timeout and 5 s
  milliseconds sweep_every = std::chrono::seconds(60);
  LogFormat log_format = LogFormat::json;
  LogKeys log_keys = LogKeys::hash;
  UpstreamHost upstream_host = UpstreamHost::pass;
  bool upstream_tls_verify = true;
  std::optional<std::string> upstream_tls_ca;  // a file
  Limits limits;
  StoreOptions store_options;
  std::optional<Jwt> jwt;
  std::optional<UpstreamUrl> auth_url;
  std::vector<std::string> cors_origins;
  Route defaults;
  std::vector<Route> routes;  // in the order of the file; the first match wins

  milliseconds drain_time() const;  // `drain`, or the longest response_timeout and 5 s
};

}  // namespace stet::config
