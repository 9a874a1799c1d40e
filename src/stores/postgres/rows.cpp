#include "stores/postgres/rows.hpp"

#include <algorithm>

#include "stores/header_bytes.hpp"
#include "stores/postgres/big_endian.hpp"
#include "stores/postgres/headers_json.hpp"

namespace stet::stores::postgres {
namespace {

[[noreturn]] void bad(std::string what) {
  throw BadRow{std::move(what)};
}

// The type's columns, in its order.
constexpr std::array<std::string_view, 22> kOutcome{
    "list",       "n",           "verdict",      "attempt",      "maybe_executed", "recovery_point",
    "nonce",      "state",       "fingerprint",  "recipe",       "method",         "path",
    "scope_rule", "on_unknown",  "retention_ms", "tombstone_ms", "retry_after_ms", "status",
    "headers",    "raw_headers", "body",         "expires_at_ms"};

// What stands at the beginning of `bytes`, which it loses.
std::string_view taken(std::string_view& bytes, std::size_t size) {
  if (bytes.size() < size) bad("the outcome cannot be read");
  const std::string_view begin = bytes.substr(0, size);
  bytes.remove_prefix(size);
  return begin;
}

std::int32_t taken_number(std::string_view& bytes) {
  return big_endian<std::int32_t>(taken(bytes, sizeof(std::int32_t)));
}

}  // namespace

// A composite value in binary is the number of its fields, then each one's type, size (-1: null) and bytes.
Row Row::outcome(const PGresult* result, int row) {
  Row read(result, row);
  std::string_view bytes(PQgetvalue(result, row, 0), static_cast<std::size_t>(PQgetlength(result, row, 0)));
  if (taken_number(bytes) != static_cast<std::int32_t>(kOutcome.size()))
    bad("the outcome has another number of columns");
  Fields& fields = read.outcome_.emplace();
  for (auto& field : fields) {
    taken_number(bytes);
    const std::int32_t size = taken_number(bytes);
    if (size >= 0) field = taken(bytes, static_cast<std::size_t>(size));
  }
  return read;
}

std::optional<std::string_view> Row::opt_bytes(const char* column) const {
  if (outcome_) {
    const auto* const at = std::ranges::find(kOutcome, std::string_view(column));
    return at == kOutcome.end() ? std::nullopt : (*outcome_)[static_cast<std::size_t>(at - kOutcome.begin())];
  }
  const int at = PQfnumber(result_, column);
  if (at < 0 || PQgetisnull(result_, row_, at) == 1) return std::nullopt;
  return std::string_view(PQgetvalue(result_, row_, at),
                          static_cast<std::size_t>(PQgetlength(result_, row_, at)));
}

std::optional<std::int64_t> Row::opt_int(const char* column) const {
  const auto bytes = opt_bytes(column);
  if (!bytes) return std::nullopt;
  switch (bytes->size()) {
    case 2:
      return big_endian<std::int16_t>(*bytes);
    case 4:
      return big_endian<std::int32_t>(*bytes);
    case 8:
      return big_endian<std::int64_t>(*bytes);
    default:
      bad(std::string(column) + " is no integer");
  }
}

std::optional<std::array<std::uint8_t, 16>> Row::opt_uuid(const char* column) const {
  const auto bytes = opt_bytes(column);
  if (!bytes) return std::nullopt;
  std::array<std::uint8_t, 16> uuid;
  if (bytes->size() != uuid.size()) bad(std::string(column) + " is no uuid");
  std::ranges::copy(*bytes, uuid.begin());
  return uuid;
}

std::string_view Row::bytes(const char* column) const {
  return opt_bytes(column).value_or(std::string_view());
}

std::int64_t Row::integer(const char* column) const {
  const auto value = opt_int(column);
  if (!value) bad(std::string(column) + " is missing");
  return *value;
}

bool Row::boolean(const char* column) const {
  const std::string_view value = bytes(column);
  return value.size() == 1 && value.front() != '\0';
}

Token Row::token(std::string scope, std::string key) const {
  const auto nonce = opt_uuid("nonce");
  if (!nonce) bad("the record has no owner");
  return {std::move(scope), std::move(key), Nonce{*nonce}, static_cast<std::uint32_t>(integer("attempt"))};
}

Terms Row::terms() const {
  Terms terms;
  terms.scope_rule = bytes("scope_rule");
  const std::int64_t on_unknown = integer("on_unknown");
  if (on_unknown < 0 || on_unknown > static_cast<int>(OnUnknown::joined))
    bad("on_unknown is none that Stet knows");
  terms.on_unknown = static_cast<OnUnknown>(on_unknown);
  terms.retention = span_ms("retention_ms").value_or(kForever);
  terms.tombstone = span_ms("tombstone_ms").value_or(kForever);
  return terms;
}

Fingerprint Row::fingerprint() const {
  Fingerprint fingerprint;
  const auto digest = opt_bytes("fingerprint");
  if (!digest) return fingerprint;
  if (digest->size() != fingerprint.digest.size()) bad("the fingerprint has not 32 bytes");
  std::ranges::copy(*digest, fingerprint.digest.begin());
  fingerprint.recipe = bytes("recipe");
  return fingerprint;
}

State Row::state() const {
  const std::int64_t state = integer("state");
  if (state < 0 || state > static_cast<int>(State::expired)) bad("the state is none that Stet knows");
  return static_cast<State>(state);
}

int Row::status() const {
  const std::int64_t status = integer("status");
  if (status < 100 || status > 599) bad("the answer's status is none of HTTP's");
  return static_cast<int>(status);
}

// jsonb in binary is a version byte and its text.
Headers Row::headers() const {
  if (const auto raw = opt_bytes("raw_headers")) {
    auto headers = unpack_headers(*raw);
    if (!headers) bad("the answer's headers cannot be read");
    return *std::move(headers);
  }
  std::string_view json = bytes("headers");
  if (!json.empty()) json.remove_prefix(1);
  auto headers = headers_of_json(json);
  if (!headers) bad("the answer's headers are no array of [name, value] pairs");
  return *std::move(headers);
}

std::optional<WallTime> Row::time_ms(const char* column) const {
  const auto span = span_ms(column);
  if (!span) return std::nullopt;
  return WallTime(*span);
}

std::optional<milliseconds> Row::span_ms(const char* column) const {
  const auto ms = opt_int(column);
  if (!ms) return std::nullopt;
  return milliseconds(*ms);
}

Record Row::record() const {
  Record record;
  record.token = token(std::string(bytes("scope")), std::string(bytes("key")));
  record.fingerprint = fingerprint();
  record.method = bytes("method");
  record.path = bytes("path");
  record.state = state();
  record.maybe_executed = boolean("maybe_executed");
  record.terms = terms();
  record.recovery_point = bytes("recovery_point");
  if (record.state == State::completed) {
    const Kept kept = integer("kept") == 0 ? Kept::whole : Kept::head_only;
    record.answer = Answer{status(), headers(), std::string(bytes("body")), kept};
  }
  record.created_at =
      WallTime(std::chrono::floor<milliseconds>(std::chrono::microseconds(integer("created_at_us"))));
  record.lease_until = time_ms("lease_until_ms");
  record.expires_at = time_ms("expires_at_ms");
  return record;
}

}  // namespace stet::stores::postgres
