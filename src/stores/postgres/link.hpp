#pragma once
// The connection of one store: made when it is needed, checked each time, and made again with growing pauses.

#include <functional>
#include <mutex>
#include <optional>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "stores/postgres/server.hpp"
#include "stores/postgres/unanswered.hpp"

namespace stet::stores::postgres {

// What the connections of one gateway know together.
class Watch {
 public:
  using Say = std::function<void(std::string_view)>;
  Watch(Say notice, Say alarm) : notice_(std::move(notice)), alarm_(std::move(alarm)) {}

  // From any thread. Raises the alarm when it is another server than the last one, or one that was promoted
  // meanwhile.
  void reached(const Identity& identity);
  // Whether one of the connections has reached a server since then.
  bool reached_since(std::chrono::steady_clock::time_point moment);
  void say(std::string_view line);
  void say_once(const std::string& line);

 private:
  std::mutex mutex_;
  std::optional<Identity> last_;
  std::chrono::steady_clock::time_point when_{};
  std::string said_;
  const Say notice_;
  const Say alarm_;
};

// One thread at a time.
class Link {
 public:
  Link(std::string url, Durability durability, std::chrono::milliseconds operation_time, Watch& watch,
       Unanswered& unanswered);

  // For the start. Throws StoreError with what is wrong.
  void open(OpenOptions::Missing missing);

  // A connection to a server that will do. Throws StoreError{not_written}, at once while a pause after a
  // failure lasts.
  Connection& get();

  // After a PgError: drops the connection when it is gone.
  void failed(const PgError& error);
  // The same after a statement that only read, which is stopped when it was too slow.
  void failed_reading(const PgError& error);
  void succeeded();

 private:
  Server connect(OpenOptions::Missing missing);
  Connection& connect_again();
  void pause();
  void forget_who_was_answered();

  const std::string url_;
  const Durability durability_;
  const std::chrono::milliseconds operation_time_;
  Watch& watch_;
  Unanswered& unanswered_;
  std::optional<Connection> connection_;
  std::string why_not_;
  std::chrono::steady_clock::time_point tried_{};
  std::chrono::steady_clock::time_point next_try_{};
  std::chrono::milliseconds longest_pause_{0};  // none yet: the first attempt after a loss comes at once
  std::minstd_rand random_{std::random_device{}()};
};

}  // namespace stet::stores::postgres
