#pragma once
// The sweep of failures, for every database: each step that leaves the process fails in turn, and afterwards
// there must be one effect for a completed key, none otherwise, and the money must balance.

#include <gtest/gtest.h>
#include <sqlite3.h>

#include <atomic>
#include <functional>
#include <memory>
#include <string>

#include "stet/phases.hpp"
#include "stores/sqlite/file_for_test.hpp"

namespace stet::library::failures {

enum class Fault : std::uint8_t {
  error_before,  // the step was not done, and an error came
  error_after,   // it was done, and its reply was lost
  kill_before,
  kill_after,
};
std::string name(Fault);

// Counts the steps of one run, the renewer's thread included, and fails at one of them.
class Trip {
 public:
  Trip(Fault fault, int at) : fault_(fault), at_(at) {}
  static Trip never() { return Trip{Fault::error_before, 0}; }

  template <class F>
  auto step(F f) {
    const bool here = ++count_ == at_;
    if (here && (fault_ == Fault::error_before || fault_ == Fault::kill_before)) fail();
    if constexpr (std::is_void_v<decltype(f())>) {
      f();
      if (here) fail();
    } else {
      auto result = f();
      if (here) fail();
      return result;
    }
  }
  bool tripped() const { return count_ >= at_ && at_ > 0; }

 private:
  [[noreturn]] void fail() const;

  Fault fault_;
  int at_;
  std::atomic<int> count_ = 0;
};

// A session or a pool whose every call is a step.
template <class Real>
class TrippingStore : public Real {
 public:
  TrippingStore(Real& real, Trip& trip) : real_(real), trip_(trip) {}
  std::vector<Store::Outcome> execute(std::span<const Command> batch) override {
    return trip_.step([&] { return real_.execute(batch); });
  }
  std::optional<Record> find(const OperationId& id) override {
    return trip_.step([&] { return real_.find(id); });
  }
  Page list(const Filter& filter, std::size_t limit, const std::string& cursor) override {
    return real_.list(filter, limit, cursor);
  }

 protected:
  Real& real_;
  Trip& trip_;
};

using TrippingPool = TrippingStore<Pool>;

class TrippingSession final : public TrippingStore<Session> {
 public:
  using TrippingStore::TrippingStore;
  std::string emit(const Message& message) override {
    return trip_.step([&] { return real_.emit(message); });
  }
  Receipt receive(std::string_view source, std::string_view id) override {
    return trip_.step([&] { return real_.receive(source, id); });
  }
};

// A bank of the user's in some database: money moves from one account to another, and every movement is a
// row.
class Bank {
 public:
  virtual ~Bank() = default;
  virtual void begin() = 0;  // all three throw
  virtual void commit() = 0;
  virtual void roll_back() = 0;
  virtual void run(const std::string& sql) = 0;
  virtual int number(const std::string& sql) = 0;
  virtual Session& session() = 0;
  virtual Pool& pool() = 0;
};

// Where a bank is; every process opens it for itself.
class Town {
 public:
  virtual ~Town() = default;
  virtual std::unique_ptr<Bank> open() = 0;
};

// What a town's database has besides Stet's tables, in SQL that both understand.
inline constexpr const char* kBankTables =
    "CREATE TABLE accounts (name TEXT PRIMARY KEY, money INTEGER NOT NULL);"
    "INSERT INTO accounts VALUES ('alice', 1000), ('bob', 0);"
    "CREATE TABLE movements (id TEXT NOT NULL, amount INTEGER NOT NULL);";

// A payment provider in a file of its own, which survives the death of whoever calls it: it drops repeats of
// a key.
class Provider {
 public:
  explicit Provider(std::string path) : path_(std::move(path)) {}
  void charge(const std::string& key) const;
  int charges() const;

 private:
  std::string path_;
};

// The tests themselves: every fault at every step.
void sweep_run_once(const std::function<std::unique_ptr<Town>()>& make_town);
void sweep_phases(const std::function<std::unique_ptr<Town>()>& make_town);

}  // namespace stet::library::failures
