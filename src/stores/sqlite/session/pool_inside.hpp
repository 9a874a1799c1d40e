#pragma once
// The connections of a pool. Tests make one with clocks of their own.

#include <condition_variable>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "stet/sqlite/pool.hpp"
#include "stores/own_process.hpp"
#include "stores/sqlite/session/inside.hpp"

namespace stet::sqlite {

struct Pool::Inside : std::enable_shared_from_this<Pool::Inside> {
  // One connection and its session, which ends first.
  struct Line {
    explicit Line(const Inside& pool);
    stores::sqlite::Database database;
    std::unique_ptr<Session> session;
  };
  // A line that goes back by itself.
  using Lent = std::shared_ptr<Line>;

  Inside(std::string to, const PoolOptions& how, stores::Clocks by)
      : path(std::move(to)), options(how), clocks(std::move(by)) {}

  Lent take();

  const std::string path;
  const PoolOptions options;
  const stores::Clocks clocks;
  const std::shared_ptr<SweepGuard> guard = std::make_shared<SweepGuard>();
  const stores::OwnProcess process;

 private:
  void give_back(std::unique_ptr<Line> line) noexcept;
  void forget() noexcept;
  Lent lend(std::unique_ptr<Line> line);

  std::mutex mutex_;
  std::condition_variable given_back_;
  std::vector<std::unique_ptr<Line>> idle_;
  std::size_t open_ = 0;  // idle or lent
};

}  // namespace stet::sqlite
