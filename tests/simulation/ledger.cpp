#include "ledger.hpp"

#include <algorithm>

namespace stet::simulation {

std::optional<Answer> Ledger::execute(const Token& token) {
  Entry& entry = entries_[token.key];
  if (token.attempt <= entry.promised) return std::nullopt;
  if (kind_ == Upstream::naive || entry.effects == 0) ++entry.effects;
  entry.answers.push_back(prepare(token));
  return entry.answers.back();
}

// Each answer is told from every other, also of the same effect: a replay must be the first one, to the byte.
Answer Ledger::prepare(const Token& token) {
  return Answer{201, {{"X-Response", std::to_string(++responses_)}}, "effect of " + token.key};
}

void Ledger::took_effect(const Token& token, const Answer& answer) {
  Entry& entry = entries_[token.key];
  ++entry.effects;
  entry.answers.push_back(answer);
}

AskVerdict Ledger::asked(const Token& token) {
  Entry& entry = entries_[token.key];
  if (!entry.answers.empty()) return asked::Completed{entry.answers.front()};
  entry.promised = std::max(entry.promised, token.attempt);
  return asked::NeverExecuted{token.attempt};
}

std::size_t Ledger::effects(const std::string& key) const {
  const auto found = entries_.find(key);
  return found == entries_.end() ? 0 : found->second.effects;
}

bool Ledger::said(const std::string& key, const Answer& answer) const {
  const auto found = entries_.find(key);
  return found != entries_.end() &&
         std::ranges::find(found->second.answers, answer) != found->second.answers.end();
}

}  // namespace stet::simulation
