#include "stores/conformance/subject.hpp"

#include <ostream>

namespace stet::stores::conformance {

using namespace std::chrono_literals;

Clocks TestClocks::clocks() {
  return {[this] { return wall_; }, [this] { return mono_; }};
}

void TestClocks::advance(milliseconds by) {
  wall_ += by;
  mono_ += by;
}

void TestClocks::step_wall(milliseconds by) {
  wall_ += by;
}

std::ostream& operator<<(std::ostream& out, const Subject& subject) {
  return out << subject.name;
}

std::string subject_name(const testing::TestParamInfo<Subject>& info) {
  return info.param.name;
}

void StoreConformance::SetUp() {
  place_ = GetParam().make_place();
  store_ = place_->open(clocks_.clocks());
}

void StoreConformance::crash_and_reopen() {
  store_.reset();
  store_ = place_->open(clocks_.clocks());
}

Store::Outcome StoreConformance::outcome(const Command& command) {
  std::vector<Store::Outcome> outcomes = store().execute({&command, 1});
  EXPECT_EQ(outcomes.size(), 1U);
  return outcomes.empty() ? Store::Failed{StoreFailure::unavailable, "no outcome"}
                          : std::move(outcomes.front());
}

std::string StoreConformance::describe(const Store::Outcome& outcome) {
  if (const auto* failed = std::get_if<Store::Failed>(&outcome)) return "failed: " + failed->what;
  struct Name {
    const char* operator()(const result::Claimed&) const { return "claimed"; }
    const char* operator()(const result::Replay&) const { return "replay"; }
    const char* operator()(const result::InProgress&) const { return "in_progress"; }
    const char* operator()(const result::Mismatch&) const { return "mismatch"; }
    const char* operator()(const result::Lapsed&) const { return "lapsed"; }
    const char* operator()(const result::Unknown&) const { return "unknown"; }
    const char* operator()(const result::Expired&) const { return "expired"; }
    const char* operator()(const result::Ok&) const { return "ok"; }
    const char* operator()(const result::Fenced&) const { return "fenced"; }
    const char* operator()(const result::Swept&) const { return "swept"; }
  };
  return std::visit(Name{}, std::get<Result>(outcome));
}

std::optional<Record> StoreConformance::record(std::string_view key, std::string_view scope) {
  return store().find(OperationId::of(scope, key));
}

std::string StoreConformance::state(std::string_view key) {
  const std::optional<Record> found = record(key);
  return found ? std::string(name(found->state)) : "absent";
}

std::vector<Record> StoreConformance::list_all(const Filter& filter, std::size_t limit) {
  std::vector<Record> records;
  std::string cursor;
  do {
    Page page = store().list(filter, limit, cursor);
    EXPECT_LE(page.records.size(), limit);
    std::move(page.records.begin(), page.records.end(), std::back_inserter(records));
    cursor = std::move(page.next);
  } while (!cursor.empty());
  return records;
}

command::Claim StoreConformance::claim(std::string key, std::string scope) {
  command::Claim c;
  c.scope = std::move(scope);
  c.key = std::move(key);
  c.nonce = Nonce::random();
  c.fingerprint = fingerprint('a');
  c.method = "POST";
  c.path = "/charges";
  c.terms.scope_rule = "credentials";
  c.terms.retention = 24h;
  c.terms.tombstone = 48h;
  c.lease = kLease;
  return c;
}

Token StoreConformance::token(const command::Claim& claim, std::uint32_t attempt) {
  return {claim.scope, claim.key, claim.nonce, attempt};
}

Fingerprint StoreConformance::fingerprint(char of) {
  Fingerprint fingerprint;
  fingerprint.digest.fill(static_cast<std::uint8_t>(of));
  fingerprint.recipe = "v1 json";
  return fingerprint;
}

Answer StoreConformance::answer(std::string body) {
  return {
      201, {{"Content-Type", "application/json"}, {"Location", "/charges/1"}}, std::move(body), Kept::whole};
}

command::Claim StoreConformance::claimed(const std::string& key) {
  command::Claim c = claim(key);
  run<result::Claimed>(c);
  return c;
}

command::Claim StoreConformance::completed(const std::string& key) {
  command::Claim c = claimed(key);
  run<result::Ok>(command::Complete{token(c), answer(), std::nullopt});
  return c;
}

command::Claim StoreConformance::unknown(const std::string& key) {
  command::Claim c = claimed(key);
  run<result::Ok>(command::SettleUnknown{token(c)});
  return c;
}

command::Claim StoreConformance::bring_to(std::string_view wanted, const std::string& key) {
  command::Claim c = claim(key);
  if (wanted == "absent") return c;
  run<result::Claimed>(c);
  if (wanted == "lapsed") clocks_.advance(kLease);
  if (wanted == "given back") run<result::Ok>(command::GiveBack{token(c)});
  if (wanted == "unknown") run<result::Ok>(command::SettleUnknown{token(c)});
  if (wanted == "completed" || wanted == "expired") {
    run<result::Ok>(command::Complete{token(c), answer(), std::nullopt});
  }
  if (wanted == "expired") {
    clocks_.advance(24h);
    run<result::Swept>(command::Sweep{});
  }
  if (wanted == "taken over") {
    clocks_.advance(kLease);
    run<result::Claimed>(command::TakeOver{token(c), Nonce::random(), kLease});
  }
  return c;
}

}  // namespace stet::stores::conformance
