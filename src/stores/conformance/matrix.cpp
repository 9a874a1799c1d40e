// Every command in every state: the table of docs/protocol.md, cell by cell.

#include <array>

#include "stores/conformance/subject.hpp"

namespace stet::stores::conformance {
namespace {

using namespace std::chrono_literals;

constexpr std::array<const char*, 8> kStates{"absent",  "running",   "lapsed",  "given back",
                                             "unknown", "completed", "expired", "taken over"};

// What each command is told, and what the record is afterwards ("": as before), in the order of kStates.
struct Line {
  const char* command;
  std::array<const char*, 8> told;
  std::array<const char*, 8> becomes;
};

const std::array<Line, 17> kTable{{
    {"claim of another owner",
     {"claimed", "in_progress", "lapsed", "lapsed", "unknown", "replay", "expired", "in_progress"},
     {"pending", "", "", "", "", "", "", ""}},
    {"claim of the same owner",
     {"claimed", "claimed", "claimed", "claimed", "unknown", "replay", "expired", "in_progress"},
     {"pending", "", "", "", "", "", "", ""}},
    {"claim with another fingerprint",
     {"claimed", "mismatch", "mismatch", "mismatch", "mismatch", "mismatch", "expired", "mismatch"},
     {"pending", "", "", "", "", "", "", ""}},
    {"claim of the same owner with another fingerprint",
     {"claimed", "mismatch", "mismatch", "mismatch", "mismatch", "mismatch", "expired", "mismatch"},
     {"pending", "", "", "", "", "", "", ""}},
    {"take_over",
     {"fenced", "fenced", "claimed", "claimed", "fenced", "fenced", "fenced", "fenced"},
     {"", "", "", "", "", "", "", ""}},
    {"renew",
     {"fenced", "ok", "ok", "ok", "fenced", "fenced", "fenced", "fenced"},
     {"", "", "", "", "", "", "", ""}},
    {"complete",
     {"fenced", "ok", "ok", "ok", "ok", "ok", "fenced", "fenced"},
     {"", "completed", "completed", "completed", "completed", "", "", ""}},
    {"complete with another answer",
     {"fenced", "ok", "ok", "ok", "ok", "fenced", "fenced", "fenced"},
     {"", "completed", "completed", "completed", "completed", "", "", ""}},
    {"release",
     {"fenced", "ok", "ok", "ok", "fenced", "fenced", "fenced", "fenced"},
     {"", "absent", "absent", "pending", "", "", "", ""}},
    {"give_back",
     {"fenced", "ok", "ok", "ok", "fenced", "fenced", "fenced", "fenced"},
     {"", "", "", "", "", "", "", ""}},
    {"settle_unknown",
     {"fenced", "ok", "ok", "ok", "ok", "fenced", "fenced", "fenced"},
     {"", "unknown", "unknown", "unknown", "unknown", "", "", ""}},
    {"settle_unknown by an observer",
     {"fenced", "fenced", "ok", "ok", "ok", "fenced", "fenced", "fenced"},
     {"", "", "unknown", "unknown", "unknown", "", "", ""}},
    {"advance",
     {"fenced", "ok", "ok", "ok", "fenced", "fenced", "fenced", "fenced"},
     {"", "", "", "", "", "", "", ""}},
    {"settle with an answer",
     {"fenced", "fenced", "ok", "ok", "ok", "fenced", "fenced", "fenced"},
     {"", "", "completed", "completed", "completed", "", "", ""}},
    {"settle by release",
     {"fenced", "fenced", "ok", "ok", "ok", "fenced", "fenced", "fenced"},
     {"", "", "absent", "absent", "absent", "", "", ""}},
    {"sweep",
     {"swept", "swept", "swept", "swept", "swept", "swept", "swept", "swept"},
     {"", "", "", "", "", "", "", ""}},
    {"sweep, trusted",
     {"swept", "swept", "swept", "swept", "swept", "swept", "swept", "swept"},
     {"", "", "", "", "", "", "", ""}},
}};

Command make(std::string_view what, const command::Claim& by, const Answer& answer) {
  const Token token{by.scope, by.key, by.nonce, 1};
  command::Claim again = by;
  if (what.starts_with("claim")) {
    if (what.find("same owner") == std::string_view::npos) again.nonce = Nonce::random();
    if (what.find("another fingerprint") != std::string_view::npos) again.fingerprint.digest.front() ^= 1;
    return again;
  }
  Answer other = answer;
  other.body += " ";
  if (what == "take_over") return command::TakeOver{token, Nonce::random(), by.lease};
  if (what == "renew") return command::Renew{token, by.lease};
  if (what == "complete") return command::Complete{token, answer, std::nullopt};
  if (what == "complete with another answer") return command::Complete{token, other, std::nullopt};
  if (what == "release") return command::Release{token};
  if (what == "give_back") return command::GiveBack{token};
  if (what == "settle_unknown") return command::SettleUnknown{token};
  if (what == "settle_unknown by an observer") {
    return command::SettleUnknown{token, command::SettleUnknown::By::observer};
  }
  if (what == "advance") return command::Advance{token, "charged"};
  if (what == "settle with an answer") return command::Settle{token, Nonce::random(), other};
  if (what == "settle by release") return command::Settle{token, Nonce::random(), std::nullopt};
  return command::Sweep{1000,
                        what == "sweep" ? command::Sweep::Clock::checked : command::Sweep::Clock::trusted};
}

}  // namespace

TEST_P(StoreConformance, keeps_to_the_table_of_commands_and_states) {
  int cell = 0;
  for (const Line& line : kTable) {
    for (std::size_t i = 0; i < kStates.size(); ++i) {
      SCOPED_TRACE(std::string(line.command) + " when " + kStates[i]);
      const std::string key = "key " + std::to_string(++cell);
      const command::Claim by = bring_to(kStates[i], key);
      const std::string before = state(key);
      EXPECT_EQ(describe(outcome(make(line.command, by, answer()))), line.told[i]);
      const std::string wanted = line.becomes[i];
      EXPECT_EQ(state(key), wanted.empty() ? before : wanted);
    }
  }
}

TEST_P(StoreConformance, fences_every_command_of_a_token_that_is_not_the_present_one) {
  int cell = 0;
  for (const Line& line : kTable) {
    const std::string_view command = line.command;
    if (command.starts_with("claim") || command.starts_with("sweep")) continue;
    for (const char* at : kStates) {
      SCOPED_TRACE(std::string(command) + " of a stranger when " + at);
      const std::string key = "stranger " + std::to_string(++cell);
      command::Claim by = bring_to(at, key);
      const std::optional<Record> before = record(key);
      by.nonce = Nonce::random();
      EXPECT_EQ(describe(outcome(make(command, by, answer()))), "fenced");
      EXPECT_EQ(state(key), before ? std::string(name(before->state)) : "absent");
      if (before) EXPECT_EQ(record(key)->token, before->token);
    }
  }
}

}  // namespace stet::stores::conformance
