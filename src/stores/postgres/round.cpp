#include "stores/postgres/round.hpp"

#include <algorithm>
#include <cstdlib>
#include <tuple>
#include <utility>

#include "stores/header_bytes.hpp"
#include "stores/postgres/headers_json.hpp"
#include "stores/transition.hpp"

namespace stet::stores::postgres {
namespace {

// A time beyond the calendar is "never"; PostgreSQL's own calendar would overflow and fail the whole
// statement.
constexpr milliseconds kCalendar = std::chrono::hours(24 * 366 * 2000);
constexpr milliseconds kLongestLease = std::chrono::hours(24 * 365);
constexpr std::int64_t kForeverMs = -1;
// A message to the server ends at 1 GiB, and an operation has its time.
constexpr std::size_t kMostAnswerBytes = 16 << 20;
constexpr int kClaimColumns = 12;
constexpr int kCompleteColumns = 9;
constexpr int kOtherColumns = 12;
constexpr std::int64_t kLocked = 10;  // a verdict of stet.execute; the others stand in outcome_of

enum class What : std::int16_t {
  take_over = 1,
  renew,
  release,
  give_back,
  settle_unknown_by_owner,
  settle_unknown_by_observer,
  advance,
  settle_with_answer,
  settle_by_release,
};

// Commands of the third list, as its columns have them.
struct Other {
  What what;
  const Token* token;
  const Nonce* new_nonce = nullptr;
  std::optional<milliseconds> lease = std::nullopt;
  const std::string* recovery_point = nullptr;
  const Answer* answer = nullptr;
};

struct AsOther {
  using By = command::SettleUnknown::By;
  Other operator()(const command::TakeOver& c) const { return {What::take_over, &c.seen, &c.nonce, c.lease}; }
  Other operator()(const command::Renew& c) const { return {What::renew, &c.token, nullptr, c.lease}; }
  Other operator()(const command::Release& c) const { return {What::release, &c.token}; }
  Other operator()(const command::GiveBack& c) const { return {What::give_back, &c.token}; }
  Other operator()(const command::SettleUnknown& c) const {
    return {c.by == By::owner ? What::settle_unknown_by_owner : What::settle_unknown_by_observer, &c.token};
  }
  Other operator()(const command::Advance& c) const {
    return {What::advance, &c.token, nullptr, {}, &c.recovery_point};
  }
  Other operator()(const command::Settle& c) const {
    if (!c.answer) return {What::settle_by_release, &c.seen, &c.nonce};
    return {What::settle_with_answer, &c.seen, &c.nonce, {}, nullptr, &*c.answer};
  }
  Other operator()(const auto&) const { std::abort(); }
};

void add_span(Array& to, milliseconds span) {
  if (span >= kCalendar) {
    to.add_null();
  } else {
    to.add(std::max<std::int64_t>(span.count(), 0));
  }
}

std::int64_t lease_ms(milliseconds lease) {
  return std::clamp(lease, milliseconds(0), kLongestLease).count();
}

void add_answer(const Answer& answer, Array& headers, Array& raw_headers, Array& body) {
  if (const auto json = to_json(answer.headers)) {
    headers.add(*json);
    raw_headers.add_null();
  } else {
    headers.add_null();
    raw_headers.add(pack(answer.headers));
  }
  if (answer.kept == Kept::whole) {
    body.add(std::string_view(answer.body));
  } else {
    body.add_null();
  }
}

const Answer* answer_in(const Command& command) {
  if (const auto* complete = std::get_if<command::Complete>(&command)) return &complete->answer;
  const auto* settle = std::get_if<command::Settle>(&command);
  return settle != nullptr && settle->answer ? &*settle->answer : nullptr;
}

// A locked row is another transaction's: an upstream between its stet.complete and its commit, mostly.
Store::Outcome when_locked(const Command& command) {
  if (std::holds_alternative<command::Claim>(command) || std::holds_alternative<command::TakeOver>(command)) {
    return result::InProgress{std::chrono::seconds(1)};
  }
  return Store::Failed{StoreFailure::unavailable, "another transaction holds this record; try again"};
}

milliseconds retry_after(const Row& row, milliseconds lease) {
  const milliseconds said = row.span_ms("retry_after_ms").value_or(std::chrono::seconds(1));
  return std::clamp(said, milliseconds(1), std::max(lease, milliseconds(1)));
}

Answer answer_of(const Row& row) {
  const auto body = row.opt_bytes("body");
  return {row.status(), row.headers(), std::string(body.value_or("")),
          body ? Kept::whole : Kept::head_only};
}

Store::Outcome outcome_of(const Row& row, const Command& command) {
  const auto* claim = std::get_if<command::Claim>(&command);
  const Place place = place_of(command);
  const auto present = [&] { return row.token(std::string(place.scope), std::string(place.key)); };
  switch (row.integer("verdict")) {
    case 1:
      return result::Claimed{static_cast<std::uint32_t>(row.integer("attempt")),
                             std::string(row.bytes("recovery_point")), row.boolean("maybe_executed")};
    case 2:
      return result::Replay{answer_of(row), row.time_ms("expires_at_ms")};
    case 3:
      return result::InProgress{retry_after(row, claim != nullptr ? claim->lease : kLongestLease)};
    case 4:
      return result::Mismatch{row.state(), row.fingerprint(), std::string(row.bytes("method")),
                              std::string(row.bytes("path"))};
    case 5:
      return result::Lapsed{present(), row.terms(), row.boolean("maybe_executed")};
    case 6:
      return result::Unknown{present(), row.terms()};
    case 7:
      return result::Expired{};
    case 8:
      return result::Ok{row.time_ms("expires_at_ms")};
    case 9:
      return result::Fenced{};
    case kLocked:
      return when_locked(command);
    default:
      throw BadRow{"the record cannot be read"};
  }
}

// "$7,$8,$9"
std::string numbered(int from, int count) {
  std::string list;
  for (int n = from; n < from + count; ++n) list.append(n == from ? "$" : ",$").append(std::to_string(n));
  return list;
}

[[noreturn]] void incomplete() {
  throw PgError(StoreFailure::unavailable, "PostgreSQL: stet.execute has not answered every command", "",
                PgError::Connection::usable);
}

Row only_outcome(const PGresult* result) {
  try {
    return Row::outcome(result, 0);
  } catch (const BadRow&) {
    incomplete();
  }
}

struct Texts {
  bool operator()(const command::Claim& c) const {
    return is_text(c.fingerprint.recipe) && is_text(c.method) && is_text(c.terms.scope_rule);
  }
  bool operator()(const command::Advance& c) const { return is_text(c.recovery_point); }
  bool operator()(const auto&) const { return true; }
};

}  // namespace

std::vector<Places> rounds_of(std::span<const Command> batch, Places places) {
  std::vector<Places> rounds;
  if (places.size() <= 1) {
    if (!places.empty()) rounds.push_back(std::move(places));
    return rounds;
  }
  // By (scope, key), which is also the order in which every statement takes its rows, so that two of them
  // cannot wait for each other; the commands on one record stay in theirs.
  std::vector<std::pair<Place, std::size_t>> sorted;
  for (const std::size_t place : places) sorted.emplace_back(place_of(batch[place]), place);
  const auto identity = [](const auto& entry) { return std::tie(entry.first.scope, entry.first.key); };
  std::ranges::sort(sorted, [](const auto& a, const auto& b) {
    return std::tie(a.first.scope, a.first.key, a.second) < std::tie(b.first.scope, b.first.key, b.second);
  });
  std::size_t depth = 0;
  for (std::size_t i = 0; i < sorted.size(); ++i) {
    depth = i > 0 && identity(sorted[i]) == identity(sorted[i - 1]) ? depth + 1 : 0;
    if (depth == rounds.size()) rounds.emplace_back();
    rounds[depth].push_back(sorted[i].second);
  }
  return rounds;
}

std::vector<Places> parts_of(std::span<const Command> batch, const Places& round) {
  std::vector<Places> parts;
  std::size_t bytes = 0;
  for (const std::size_t place : round) {
    const Answer* const answer = answer_in(batch[place]);
    const std::size_t its = answer == nullptr ? 0 : answer->body.size();
    if (parts.empty() || (its > 0 && bytes + its > kMostAnswerBytes)) {
      parts.emplace_back();
      bytes = 0;
    }
    bytes += its;
    parts.back().push_back(place);
  }
  return parts;
}

std::optional<Store::Failed> unfit(const Command& command) {
  if (std::visit(Texts{}, command)) return std::nullopt;
  return Store::Failed{
      StoreFailure::not_written,
      "PostgreSQL keeps a recipe, a method, a scope rule and a recovery point as text: UTF-8 without NUL"};
}

Round::Round(std::span<const Command> batch, Places places, Foreign foreign, Single single) : batch_(batch) {
  for (const std::size_t place : places) {
    Places& list = std::holds_alternative<command::Claim>(batch[place])      ? claims_
                   : std::holds_alternative<command::Complete>(batch[place]) ? completes_
                                                                             : others_;
    list.push_back(place);
  }
  // stet.execute takes all lists; what takes one of them needs no others to be sent and read.
  const bool all = !others_.empty();
  alone_ = single == Single::as_it_is && !all && claims_.size() + completes_.size() == 1;
  if (all || !claims_.empty()) write_claims();
  if (all || !completes_.empty()) write_completes();
  if (all) write_others();
  for (Array& array : arrays_) alone_ ? parameters_.add_element(array) : parameters_.add(array);
  if (all || !claims_.empty()) parameters_.add(foreign == Foreign::wait);
}

std::string Round::calls(Caller caller) const {
  const bool application = caller == Caller::session_of_application;
  const std::string in_session = application ? ")" : caller == Caller::session_of_owner ? ",true)" : ",false)";
  if (!others_.empty() || (application && !claims_.empty() && !completes_.empty())) {
    return (application ? "stet.execute_as_app(" : "stet.execute(") + numbered(1, kClaimColumns + kCompleteColumns + kOtherColumns + 1) +
           in_session;
  }
  const std::string claims = (application ? "stet.claims_as_app(" : "stet.run_claims(") +
                             numbered(1, kClaimColumns) + ",$" + std::to_string(parameters_.count()) + in_session;
  const std::string completes = (application ? "stet.completes_as_app(" : "stet.run_completes(") +
                                numbered(claims_.empty() ? 1 : kClaimColumns + 1, kCompleteColumns) + in_session;
  if (completes_.empty()) return claims;
  if (claims_.empty()) return completes;
  return "(SELECT * FROM " + claims + " UNION ALL SELECT * FROM " + completes + ") said";
}

std::string Round::statement(Caller caller) const {
  // Not SELECT * FROM: to unfold the outcome would cost the server more than to send it.
  if (alone_) {
    return (claims_.empty() ? "SELECT stet.complete_as_app(" : "SELECT stet.claim_as_app(") +
           numbered(1, parameters_.count()) + ")";
  }
  if (caller != Caller::gateway) return "SELECT * FROM " + calls(caller);
  // A configuration that is reloaded reaches connections that are open.
  return "SELECT *, CASE current_setting('synchronous_commit') WHEN 'off'"
         " THEN set_config('synchronous_commit', 'on', true) END AS commits FROM " +
         calls(caller);
}

Array& Round::column(Type type) {
  return arrays_.emplace_back(type);
}

void Round::write_claims() {
  Array& scope = column(Type::bytea);
  Array& key = column(Type::bytea);
  Array& nonce = column(Type::uuid);
  Array& fingerprint = column(Type::bytea);
  Array& recipe = column(Type::text);
  Array& method = column(Type::text);
  Array& path = column(Type::bytea);
  Array& scope_rule = column(Type::text);
  Array& on_unknown = column(Type::int2);
  Array& retention = column(Type::int8);
  Array& tombstone = column(Type::int8);
  Array& lease = column(Type::int8);
  for (const std::size_t place : claims_) {
    const auto& c = std::get<command::Claim>(batch_[place]);
    scope.add(std::string_view(c.scope));
    key.add(std::string_view(c.key));
    nonce.add(c.nonce.bytes);
    fingerprint.add(std::string_view(reinterpret_cast<const char*>(c.fingerprint.digest.data()),
                                     c.fingerprint.digest.size()));
    recipe.add(std::string_view(c.fingerprint.recipe));
    method.add(std::string_view(c.method));
    path.add(std::string_view(c.path));
    scope_rule.add(std::string_view(c.terms.scope_rule));
    on_unknown.add(static_cast<std::int16_t>(c.terms.on_unknown));
    add_span(retention, c.terms.retention);
    add_span(tombstone, c.terms.tombstone);
    lease.add(lease_ms(c.lease));
  }
}

void Round::write_completes() {
  Array& scope = column(Type::bytea);
  Array& key = column(Type::bytea);
  Array& nonce = column(Type::uuid);
  Array& attempt = column(Type::int4);
  Array& status = column(Type::int4);
  Array& headers = column(Type::jsonb);
  Array& raw_headers = column(Type::bytea);
  Array& body = column(Type::bytea);
  Array& retention = column(Type::int8);
  for (const std::size_t place : completes_) {
    const auto& c = std::get<command::Complete>(batch_[place]);
    scope.add(std::string_view(c.token.scope));
    key.add(std::string_view(c.token.key));
    nonce.add(c.token.nonce.bytes);
    attempt.add(static_cast<std::int32_t>(c.token.attempt));
    status.add(static_cast<std::int32_t>(c.answer.status));
    add_answer(c.answer, headers, raw_headers, body);
    if (!c.retention) {
      retention.add_null();
    } else {
      retention.add(*c.retention >= kCalendar ? kForeverMs : std::max<std::int64_t>(c.retention->count(), 0));
    }
  }
}

void Round::write_others() {
  Array& what = column(Type::int2);
  Array& scope = column(Type::bytea);
  Array& key = column(Type::bytea);
  Array& nonce = column(Type::uuid);
  Array& attempt = column(Type::int4);
  Array& new_nonce = column(Type::uuid);
  Array& lease = column(Type::int8);
  Array& recovery_point = column(Type::text);
  Array& status = column(Type::int4);
  Array& headers = column(Type::jsonb);
  Array& raw_headers = column(Type::bytea);
  Array& body = column(Type::bytea);
  const auto add_bytes = [](Array& to, const std::string* bytes) {
    bytes == nullptr ? to.add_null() : to.add(std::string_view(*bytes));
  };
  for (const std::size_t place : others_) {
    const Other c = std::visit(AsOther{}, batch_[place]);
    what.add(static_cast<std::int16_t>(c.what));
    scope.add(std::string_view(c.token->scope));
    key.add(std::string_view(c.token->key));
    nonce.add(c.token->nonce.bytes);
    attempt.add(static_cast<std::int32_t>(c.token->attempt));
    c.new_nonce == nullptr ? new_nonce.add_null() : new_nonce.add(c.new_nonce->bytes);
    c.lease ? lease.add(lease_ms(*c.lease)) : lease.add_null();
    add_bytes(recovery_point, c.recovery_point);
    if (c.answer != nullptr) {
      status.add(static_cast<std::int32_t>(c.answer->status));
      add_answer(*c.answer, headers, raw_headers, body);
    } else {
      for (Array* column : {&status, &headers, &raw_headers, &body}) column->add_null();
    }
  }
}

std::size_t Round::place_of(const Row& row) const {
  const std::int64_t number = row.integer("list");
  const Places* const list = number == 1   ? &claims_
                             : number == 2 ? &completes_
                             : number == 3 ? &others_
                                           : nullptr;
  const std::int64_t n = row.integer("n");
  if (list == nullptr || n < 1 || n > static_cast<std::int64_t>(list->size())) incomplete();
  return (*list)[static_cast<std::size_t>(n - 1)];
}

Round::Told Round::read(const PGresult* result, std::vector<Store::Outcome>& outcomes) const {
  const int rows = PQntuples(result);
  if (static_cast<std::size_t>(rows) != claims_.size() + completes_.size() + others_.size()) incomplete();
  std::vector<bool> seen(batch_.size(), false);
  Told told;
  for (int i = 0; i < rows; ++i) {
    const Row row = alone_ ? only_outcome(result) : Row(result, i);
    const std::size_t place = place_of(row);
    if (seen[place]) incomplete();
    seen[place] = true;
    try {
      outcomes[place] = outcome_of(row, batch_[place]);
      if (row.integer("verdict") == kLocked && std::holds_alternative<command::Claim>(batch_[place])) {
        told.locked.push_back(place);
      }
      const auto* said = std::get_if<Result>(&outcomes[place]);
      const bool replayed = said != nullptr && std::holds_alternative<result::Replay>(*said);
      const bool completed =
          said != nullptr && std::holds_alternative<result::Ok>(*said) && answer_in(batch_[place]) != nullptr;
      if (!replayed && !(completed && row.opt_bytes("fingerprint"))) continue;
      told.answered.push_back({place, row.fingerprint(), row.span_ms("retry_after_ms")});
    } catch (const BadRow& bad) {
      outcomes[place] = Store::Failed{StoreFailure::corrupt, "PostgreSQL: " + bad.what};
    }
  }
  return told;
}

}  // namespace stet::stores::postgres
