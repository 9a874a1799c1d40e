#include <unistd.h>

#include <algorithm>

#include "config/key_material.hpp"
#include "config/keys.hpp"

namespace stet::config {
namespace {

constexpr std::uint64_t kMaxSize = std::uint64_t{1} << 40;

void read_endpoint(Reading& reading, const Value& value, Endpoint& out) {
  if (!reading.is(value, Value::Kind::string, "\"127.0.0.1:8080\"")) return;
  auto endpoint = parse_endpoint(value.text);
  if (!endpoint) return reading.error(value.place, endpoint.error());
  out = std::move(*endpoint);
}

void read_upstream(Reading& reading, const Value& value, TopDraft& draft) {
  const auto said = read_strings(reading, value, Shape::one_or_list);
  if (!said) return;
  if (said->empty()) return reading.error(value.place, "an empty list; at least one URL was meant");
  std::vector<UpstreamUrl> urls;
  for (const Said& one : *said) {
    auto url = parse_url(one.text, UrlQuery::refused);
    if (!url)
      reading.error(one.place, url.error());
    else
      urls.push_back(std::move(*url));
  }
  draft.config.upstream = std::move(urls);
}

void read_store(Reading& reading, const Value& value, TopDraft& draft) {
  if (!reading.is(value, Value::Kind::string, "\"sqlite:stet.db\"")) return;
  auto store = check_store(value.text);
  if (!store) return reading.error(value.place, store.error());
  draft.config.store = std::move(*store);
}

void read_text(Reading& reading, const Value& value, std::optional<std::string>& out) {
  if (!reading.is(value, Value::Kind::string, "\"…\"")) return;
  if (value.text.empty()) return reading.error(value.place, "an empty string");
  out = value.text;
}

void read_ca(Reading& reading, const Value& value, TopDraft& draft) {
  std::optional<std::string> path;
  read_text(reading, value, path);
  if (path && ::access(path->c_str(), R_OK) != 0)
    return reading.error(value.place, *path + " cannot be read; a file of certificates in PEM was meant");
  if (path) draft.config.upstream_tls_ca = path;
}

void read_encryption_key(Reading& reading, const Value& value, TopDraft& draft) {
  const auto text = read_secret(reading, value);
  if (!text) return;
  auto key = decode_encryption_key(*text);
  if (!key) return reading.error(value.place, key.error());
  draft.config.store_options.encryption_key = std::move(*key);
}

void read_jwt_secret(Reading& reading, const Value& value, TopDraft& draft) {
  const auto secret = read_secret(reading, value);
  if (!secret) return;
  // RFC 7518 section 3.2: a key of at least the hash's size.
  if (secret->size() < 32)
    reading.warning(value.place,
                    "a secret of " + std::to_string(secret->size()) +
                        " bytes; RFC 7518 wants 32 or more for HS256, because a short one can be guessed "
                        "from any token");
  draft.config.jwt.emplace(draft.config.jwt.value_or(Jwt{})).secret = secret;
}

void read_jwt_public_key(Reading& reading, const Value& value, TopDraft& draft) {
  if (!reading.is(value, Value::Kind::string, "\"file:jwt.pem\"")) return;
  const auto pem = resolve(reading, {value.text, value.place}, Publicity::open);
  if (!pem) return;
  if (const std::string error = public_key_error(*pem); !error.empty())
    return reading.error(value.place, error);
  draft.config.jwt.emplace(draft.config.jwt.value_or(Jwt{})).public_key = pem;
}

void read_jwt_text(Reading& reading, const Value& value, TopDraft& draft,
                   std::optional<std::string> Jwt::* field) {
  std::optional<std::string> text;
  read_text(reading, value, text);
  if (text) draft.config.jwt.emplace(draft.config.jwt.value_or(Jwt{})).*field = text;
}

void read_auth_url(Reading& reading, const Value& value, TopDraft& draft) {
  if (!reading.is(value, Value::Kind::string, "\"http://127.0.0.1:4000/auth\"")) return;
  auto url = parse_url(value.text, UrlQuery::allowed);
  if (!url) return reading.error(value.place, url.error());
  draft.config.auth_url = std::move(*url);
}

void read_origins(Reading& reading, const Value& value, TopDraft& draft) {
  const auto said = read_strings(reading, value, Shape::list);
  if (!said) return;
  std::vector<std::string> origins;
  for (const Said& one : *said) {
    const auto url = parse_url(one.text, UrlQuery::refused);
    if (one.text == "*") {
      reading.error(one.place,
                    "\"*\" would let every site read the answers of keyed requests; name the origins");
    } else if (!url || !url->path.empty() || one.text.ends_with('/')) {
      reading.error(one.place,
                    "\"" + one.text + "\" is no origin: \"https://shop.example\" was meant, without a path");
    } else if (lower(one.text) != one.text) {
      reading.error(one.place, "browsers send origins in lower case: \"" + lower(one.text) + "\" was meant");
    } else {
      origins.push_back(one.text);
    }
  }
  draft.config.cors_origins = std::move(origins);
}

constexpr Where T = Where::top;

const TopKey kKeys[] = {
    {{"listen", T, R"("127.0.0.1:8080")", R"("0.0.0.0:8080")", "where clients connect; port 0 picks one"},
     [](Reading& r, const Value& v, TopDraft& d) { read_endpoint(r, v, d.config.listen); }},
    {{"admin", T, R"("127.0.0.1:9090")", R"("127.0.0.1:0")",
      "where operators connect: health, metrics, operations"},
     [](Reading& r, const Value& v, TopDraft& d) { read_endpoint(r, v, d.config.admin); }},
    {{"upstream", T, "", R"(["http://10.0.0.1:3000", "http://10.0.0.2:3000"])",
      "the API to protect (required); several are used in turn"},
     &read_upstream},
    {{"store", T, R"("sqlite:stet.db")", R"("sqlite:/var/lib/stet/stet.db")", "where operations are kept"},
     &read_store},
    {{"admin_token", T, "", R"("env:STET_ADMIN_TOKEN")",
      "bearer token of the admin port (secret); required to bind it beyond loopback"},
     [](Reading& r, const Value& v, TopDraft& d) {
       if (auto secret = read_secret(r, v)) d.config.admin_token = std::move(secret);
     }},
    {{"drain", T, "", R"("45s")",
      "how long SIGTERM waits for what runs; default: longest response_timeout + 5s"},
     [](Reading& r, const Value& v, TopDraft& d) {
       milliseconds drain{-1};
       read_duration(r, v, drain, Zero::allowed);
       if (drain.count() >= 0) d.config.drain = drain;
     }},
    {{"sweep_every", T, R"("60s")", R"("5m")", "how often expired records are ended"},
     [](Reading& r, const Value& v, TopDraft& d) { read_duration(r, v, d.config.sweep_every); }},
    {{"log.format", T, R"("json")", R"("text")", "json, text (for people) or off"},
     [](Reading& r, const Value& v, TopDraft& d) {
       if (const auto c = read_choice<LogFormat>(
               r, v, {{"json", LogFormat::json}, {"text", LogFormat::text}, {"off", LogFormat::off}}))
         d.config.log_format = *c;
     }},
    {{"log.keys", T, R"("hash")", R"("none")", "how keys appear in logs: hash, full or none"},
     [](Reading& r, const Value& v, TopDraft& d) {
       if (const auto c = read_choice<LogKeys>(
               r, v, {{"hash", LogKeys::hash}, {"full", LogKeys::full}, {"none", LogKeys::none}}))
         d.config.log_keys = *c;
     }},
    {{"upstream_host", T, R"("pass")", R"("upstream")",
      "the Host header upstream: pass the client's on, or the upstream's own"},
     [](Reading& r, const Value& v, TopDraft& d) {
       if (const auto c = read_choice<UpstreamHost>(
               r, v, {{"pass", UpstreamHost::pass}, {"upstream", UpstreamHost::upstream}}))
         d.config.upstream_host = *c;
     }},
    {{"upstream_tls.verify", T, "true", "false", "whether an https upstream's certificate is verified"},
     [](Reading& r, const Value& v, TopDraft& d) {
       read_flag(r, v, d.config.upstream_tls_verify);
       if (v.kind == Value::Kind::boolean && !v.boolean)
         r.warning(v.place, "anybody on the way can read and change what goes upstream");
     }},
    {{"upstream_tls.ca", T, "", R"("/etc/ssl/certs/ca-certificates.crt")",
      "certificates to trust, a PEM file; default: the system's"},
     &read_ca},
    {{"limits.connections", T, "10000", "2000", "connections of clients at a time"},
     [](Reading& r, const Value& v, TopDraft& d) {
       read_count(r, v, d.config.limits.connections, 1, 1'000'000);
     }},
    {{"limits.request_line", T, R"("8KiB")", R"("16KiB")", "length of a request line"},
     [](Reading& r, const Value& v, TopDraft& d) {
       read_size(r, v, d.config.limits.request_line, 64, 1 << 20);
     }},
    {{"limits.headers", T, R"("32KiB")", R"("64KiB")", "all headers of a request together"},
     [](Reading& r, const Value& v, TopDraft& d) { read_size(r, v, d.config.limits.headers, 256, 1 << 20); }},
    {{"limits.header_fields", T, "100", "200", "header lines of a request"},
     [](Reading& r, const Value& v, TopDraft& d) {
       read_count(r, v, d.config.limits.header_fields, 8, 10'000);
     }},
    {{"limits.header_timeout", T, R"("10s")", R"("5s")", "for a request's head, in all"},
     [](Reading& r, const Value& v, TopDraft& d) { read_duration(r, v, d.config.limits.header_timeout); }},
    {{"limits.body_idle_timeout", T, R"("30s")", R"("10s")", "between two pieces of a body"},
     [](Reading& r, const Value& v, TopDraft& d) { read_duration(r, v, d.config.limits.body_idle_timeout); }},
    {{"limits.keep_alive", T, R"("60s")", R"("15s")", "how long an idle connection stays open"},
     [](Reading& r, const Value& v, TopDraft& d) { read_duration(r, v, d.config.limits.keep_alive); }},
    {{"limits.buffered_bodies", T, R"("256MiB")", R"("1GiB")", "all bodies in memory together"},
     [](Reading& r, const Value& v, TopDraft& d) {
       read_size(r, v, d.config.limits.buffered_bodies, 1, kMaxSize);
     }},
    {{"limits.waiters", T, "1024", "200", "requests held by in_progress = \"wait\", in all"},
     [](Reading& r, const Value& v, TopDraft& d) {
       read_count(r, v, d.config.limits.waiters, 1, 1'000'000);
     }},
    {{"limits.waiters_per_key", T, "64", "8", "the same, for one key"},
     [](Reading& r, const Value& v, TopDraft& d) {
       read_count(r, v, d.config.limits.waiters_per_key, 1, 1'000'000);
     }},
    {{"store_options.encryption_key", T, "", R"("env:STET_ENCRYPTION_KEY")",
      "encrypts stored answers with AES-256-GCM (secret): 32 bytes as 64 hex digits or in base64"},
     &read_encryption_key},
    {{"store_options.durability", T, R"("full")", R"("os")",
      "full survives power loss; os survives a crash of the process only"},
     [](Reading& r, const Value& v, TopDraft& d) {
       if (const auto c = read_choice<Durability>(r, v, {{"full", Durability::full}, {"os", Durability::os}}))
         d.config.store_options.durability = *c;
     }},
    {{"store_options.free_space_floor", T, R"("256MiB")", R"("1GiB")",
      "below it no new operation is claimed"},
     [](Reading& r, const Value& v, TopDraft& d) {
       read_size(r, v, d.config.store_options.free_space_floor, 0, kMaxSize);
     }},
    {{"store_options.ballast", T, R"("64MiB")", R"("16MiB")",
      "a file given up when the disk is full, so that answers are kept"},
     [](Reading& r, const Value& v, TopDraft& d) {
       read_size(r, v, d.config.store_options.ballast, 0, kMaxSize);
     }},
    {{"store_options.pool", T, "2", "4", "connections of a gateway to PostgreSQL, a thread each"},
     [](Reading& r, const Value& v, TopDraft& d) { read_count(r, v, d.config.store_options.pool, 1, 64); }},
    {{"jwt.secret", T, "", R"("env:JWT_SECRET")", "verifies HS256 tokens for scope jwt:… (secret)"},
     &read_jwt_secret},
    {{"jwt.public_key", T, "", R"("file:jwt.pem")", "verifies RS256 and ES256 tokens for scope jwt:… (PEM)"},
     &read_jwt_public_key},
    {{"jwt.issuer", T, "", R"("https://id.example")", "the iss that a token must have"},
     [](Reading& r, const Value& v, TopDraft& d) { read_jwt_text(r, v, d, &Jwt::issuer); }},
    {{"jwt.audience", T, "", R"("charges")", "the aud that a token must have"},
     [](Reading& r, const Value& v, TopDraft& d) { read_jwt_text(r, v, d, &Jwt::audience); }},
    {{"auth.url", T, "", R"("http://127.0.0.1:4000/auth")", "asked before every keyed answer for scope auth"},
     &read_auth_url},
    {{"cors.origins", T, "", R"(["https://shop.example"])", "browser origins that may read keyed answers"},
     &read_origins},
};

}  // namespace

std::span<const TopKey> top_keys() {
  return kKeys;
}

}  // namespace stet::config
