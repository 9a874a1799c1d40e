#include "admin/counted_store.hpp"

namespace stet::admin {
namespace {

// What an owner says while it works, and at its end.
const Token* of_an_owner(const Command& command) {
  if (const auto* complete = std::get_if<command::Complete>(&command)) return &complete->token;
  if (const auto* renew = std::get_if<command::Renew>(&command)) return &renew->token;
  return nullptr;
}

}  // namespace

// A store that refuses (no room, a corrupt row) has answered, and is reachable.
template <class Call>
auto CountedStore::counting_failures(Call call) {
  try {
    auto result = call();
    metrics_.reachable.set(1);
    return result;
  } catch (const StoreError& error) {
    metrics_.failed(error.kind());
    if (error.kind() == StoreFailure::unavailable) metrics_.reachable.set(0);
    throw;
  }
}

std::vector<Store::Outcome> CountedStore::execute(std::span<const Command> batch) {
  const auto begin = std::chrono::steady_clock::now();
  auto outcomes = counting_failures([&] { return store_->execute(batch); });
  metrics_.batch(batch, outcomes, std::chrono::steady_clock::now() - begin);
  look_for_lost_claims(batch, outcomes);
  return outcomes;
}

// An owner that is fenced lost its record to somebody, unless there is none: then the claim itself is gone.
// It hears so once, and then listens no more.
void CountedStore::look_for_lost_claims(std::span<const Command> batch,
                                        const std::vector<Outcome>& outcomes) {
  for (std::size_t i = 0; i < batch.size() && i < outcomes.size(); ++i) {
    const Token* const owner = of_an_owner(batch[i]);
    const auto* result = std::get_if<Result>(&outcomes[i]);
    if (owner == nullptr || result == nullptr || !std::holds_alternative<result::Fenced>(*result)) continue;
    try {
      if (!store_->find(owner->id())) metrics_.lost_claims.add();
    } catch (const StoreError&) {
      // The batch has its answers; whoever asks next hears of the failure.
    }
  }
}

std::optional<Result> CountedStore::peek(const command::Claim& claim) noexcept {
  auto result = store_->peek(claim);
  if (result) metrics_.peeked.add();
  return result;
}

std::optional<Record> CountedStore::find(const OperationId& id) {
  return counting_failures([&] { return store_->find(id); });
}

Page CountedStore::list(const Filter& filter, std::size_t limit, const std::string& cursor) {
  return counting_failures([&] { return store_->list(filter, limit, cursor); });
}

}  // namespace stet::admin
