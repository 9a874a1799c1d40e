#pragma once
// The log: one line on stderr for each request and for each turn in the process's life.
//
// A call formats its line, appends it to a bounded queue and returns; a thread of the log's own writes. When
// stderr is a full pipe or a full disk, lines are dropped and counted, and no request waits or fails. Any
// thread. Bodies, header values and query strings have no way in.

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <variant>

#include "config/config.hpp"
#include "stet/identity.hpp"
#include "stet/shown.hpp"

namespace stet::admin {

class LogWriter;

enum class Level : std::uint8_t { info, warning, error };

// What is logged of one request. Views are read before the call returns.
struct RequestLine {
  std::string_view method;
  std::string_view path;        // without the query, which may carry secrets
  std::size_t key_segment = 0;  // key_from = "path:N": that segment is the key, and is shown as log.keys says
  std::string_view route;
  int status = 0;                  // 0: the caller had gone
  std::optional<Outcome> outcome;  // keyed requests
  std::optional<Problem> problem;
  std::optional<OperationId> operation;
  std::string_view scope;  // Scope::value
  std::string_view key;
  std::uint32_t attempt = 0;  // 0: none was made
  std::optional<int> upstream_status;
  std::chrono::nanoseconds duration{};               // the whole request
  std::optional<std::chrono::nanoseconds> upstream;  // from the first byte sent to the answer's last
  std::optional<std::chrono::nanoseconds> store;     // waiting for the store
  std::string_view why;                              // for operators: what broke, in a few words
};

struct Field {
  std::string_view name;
  std::variant<std::string_view, std::int64_t> value;
};

class Log {
 public:
  // `fd` stays the caller's. `keys` may change at a reload.
  Log(config::LogFormat, config::LogKeys, int fd = 2);
  ~Log();  // writes what is queued, for at most half a second
  Log(const Log&) = delete;
  Log& operator=(const Log&) = delete;

  void request(const RequestLine&);
  // A turn in the process's life: "ready", "reload", "drain", "stopped" … `message` is for people.
  void event(Level, std::string_view name, std::string_view message, std::initializer_list<Field> = {});
  // The same, but only the first time for this name (a warning that would come with every request).
  void once(Level, std::string_view name, std::string_view message, std::initializer_list<Field> = {});

  // Waits until everything queued so far is written, for at most `patience` (the ready line, the last words).
  void flush(std::chrono::milliseconds patience = std::chrono::milliseconds(500));
  std::uint64_t dropped() const;
  void set_keys(config::LogKeys);

 private:
  void put(std::string line);
  void tell_dropped();
  std::string event_line(Level, std::string_view name, std::string_view message,
                         std::initializer_list<Field>) const;
  config::LogFormat format_;
  std::atomic<config::LogKeys> keys_;
  std::shared_ptr<LogWriter> writer_;  // shared with its thread, which a stuck stderr may keep beyond our end
  std::atomic<std::uint64_t> told_dropped_{0};
  std::mutex mutex_;  // of what follows
  std::set<std::string, std::less<>> said_;
  std::chrono::steady_clock::time_point told_at_{};
};

}  // namespace stet::admin
