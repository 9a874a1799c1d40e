// A session in transactions of its caller's, and the pool, are held to what every engine does.

#include "stores/conformance/subject.hpp"
#include "stores/sqlite/file_for_test.hpp"
#include "stores/sqlite/session/pool_inside.hpp"

namespace stet::stores::conformance {
namespace {

using sqlite::Database;
using sqlite::TestFile;

// The caller: a connection, a session beside it, and a transaction around each batch.
class Caller final : public Store {
 public:
  Caller(const std::string& path, const Clocks& clocks) : database_(path, "") {
    database_.run("PRAGMA synchronous = OFF");
    stet::sqlite::apply_schema(database_.handle());
    session_ = std::make_unique<stet::sqlite::Session>(std::make_unique<stet::sqlite::Session::Inside>(
        database_.handle(), clocks, "this boot", std::make_shared<stet::sqlite::SweepGuard>()));
  }
  std::vector<Outcome> execute(std::span<const Command> batch) override {
    database_.run("BEGIN IMMEDIATE");
    auto outcomes = session_->execute(batch);
    database_.run("COMMIT");
    return outcomes;
  }
  std::optional<Record> find(const OperationId& id) override { return session_->find(id); }
  Page list(const Filter& filter, std::size_t limit, const std::string& cursor) override {
    return session_->list(filter, limit, cursor);
  }

 private:
  Database database_;
  std::unique_ptr<stet::sqlite::Session> session_;
};

class SessionInATransaction final : public Place {
 public:
  std::unique_ptr<Store> open(const Clocks& clocks) override {
    return std::make_unique<Caller>(file_.path(), clocks);
  }

 private:
  TestFile file_;
};

class PoolOfSessions final : public Place {
 public:
  PoolOfSessions() {
    Database(file_.path(), "").run("PRAGMA journal_mode = WAL");
  }  // where `os` syncs no commit
  std::unique_ptr<Store> open(const Clocks& clocks) override {
    return std::make_unique<stet::sqlite::Pool>(std::make_shared<stet::sqlite::Pool::Inside>(
        file_.path(), stet::sqlite::PoolOptions{.durability = stet::sqlite::PoolOptions::Durability::os},
        clocks));
  }

 private:
  TestFile file_;
};

INSTANTIATE_TEST_SUITE_P(SqliteSession, StoreConformance,
                         testing::Values(Subject{"session", Restart::survives,
                                                 [] { return std::make_unique<SessionInATransaction>(); }},
                                         Subject{"pool", Restart::survives,
                                                 [] { return std::make_unique<PoolOfSessions>(); }}),
                         subject_name);

}  // namespace
}  // namespace stet::stores::conformance
