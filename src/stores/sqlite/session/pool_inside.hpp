#pragma once
// The connections of a pool. Tests make one with clocks of their own.

#include <memory>
#include <string>
#include <utility>

#include "stet/sqlite/pool.hpp"
#include "stores/own_process.hpp"
#include "stores/shelf.hpp"
#include "stores/sqlite/session/inside.hpp"

namespace stet::sqlite {

struct Pool::Inside {
  // One connection and its session, which ends first.
  struct Line {
    explicit Line(const Inside& pool);
    stores::sqlite::Database database;
    std::unique_ptr<Session> session;
  };
  // A line that goes back by itself.
  using Lent = std::shared_ptr<Line>;

  Inside(std::string to, const PoolOptions& how, stores::Clocks by)
      : path(std::move(to)),
        options(how),
        clocks(std::move(by)),
        lines(std::make_shared<stores::Shelf<Line>>(how.connections, how.busy_timeout)) {}

  Lent take();

  const std::string path;
  const PoolOptions options;
  const stores::Clocks clocks;
  const std::shared_ptr<SweepGuard> guard = std::make_shared<SweepGuard>();
  const std::shared_ptr<stores::Shelf<Line>> lines;
  const stores::OwnProcess process;
};

}  // namespace stet::sqlite
