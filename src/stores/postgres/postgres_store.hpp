#pragma once
// The store that several gateways share. Its state machine is the SQL of the schema stet (postgres/schema/):
// one call of its functions is one transaction, for as many commands as were waiting (docs/adr/0005).

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "stet/store.hpp"
#include "stores/clocks.hpp"
#include "stores/open.hpp"

namespace stet::stores::postgres {

struct Options {
  Durability durability = Durability::full;
  OpenOptions::Missing missing = OpenOptions::Missing::create;  // the schema
  std::size_t connections = 1;
  std::size_t cached_answers = 64 << 20;  // bytes, for all connections together
  std::chrono::milliseconds operation_time = std::chrono::seconds(2);
  std::chrono::milliseconds listing_time = std::chrono::seconds(5);  // operators' lists may look at many rows
  std::function<void(std::string_view)> notice;
  std::function<void(std::string_view)> alarm;  // stores/open.hpp
  Clocks clocks = Clocks::system();             // only the monotonic one is used: time is the server's
};

// One store for each connection; each may have a thread of its own, and any of them answers any command. The
// first is connected and checked, the schema created when there is none; the others connect when they are
// first used. Throws StoreError.
std::vector<std::unique_ptr<Store>> open(const std::string& url, const Options& options);

// Whether the URL is PostgreSQL's.
bool is_postgres(std::string_view url);

}  // namespace stet::stores::postgres
