#pragma once
// The store's answers for coroutines of a worker.

#include "gateway/station.hpp"

namespace stet::gateway {

Task<Store::Outcome> execute(Station&, Command);
Task<Expected<std::optional<Record>, Store::Failed>> find(Station&, OperationId);
Task<Expected<Page, Store::Failed>> list(Station&, Filter, std::size_t limit, std::string cursor);

}  // namespace stet::gateway
