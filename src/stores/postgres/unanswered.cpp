#include "stores/postgres/unanswered.hpp"

#include <algorithm>
#include <utility>

namespace stet::stores::postgres {

void Unanswered::add(const Link& owner, Connection connection) {
  const std::lock_guard lock(mutex_);
  operations_.push_back({&owner, std::move(connection)});
}

std::size_t Unanswered::count(const Link& owner) {
  const std::lock_guard lock(mutex_);
  drop_the_ended();
  return static_cast<std::size_t>(std::ranges::count(operations_, &owner, &Operation::owner));
}

bool Unanswered::any() {
  const std::lock_guard lock(mutex_);
  drop_the_ended();
  return !operations_.empty();
}

std::vector<int> Unanswered::backends(const Link& owner) {
  const std::lock_guard lock(mutex_);
  std::vector<int> pids;
  for (const Operation& operation : operations_) {
    if (operation.owner == &owner) pids.push_back(PQbackendPID(operation.connection.get()));
  }
  return pids;
}

void Unanswered::keep(const Link& owner, const std::set<int>& backends) {
  const std::lock_guard lock(mutex_);
  std::erase_if(operations_, [&](const Operation& operation) {
    return operation.owner == &owner && !backends.contains(PQbackendPID(operation.connection.get()));
  });
}

void Unanswered::drop_the_ended() {
  std::erase_if(operations_, [](Operation& operation) { return operation.connection.has_ended(); });
}

}  // namespace stet::stores::postgres
