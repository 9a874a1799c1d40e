#pragma once
// Stet in your own PostgreSQL transaction: the key, your rows and your messages go into one commit.
//
//   PQexec(connection, "BEGIN");
//   stet::postgres::Session session(connection);
//   … run_once(session, …) …
//   PQexec(connection, "COMMIT");
//
// READ COMMITTED, please: in a stricter transaction a concurrent duplicate is a serialization failure
// (40001), and the whole transaction has to be repeated. Look at the result of COMMIT, and at its notices:
// when the wait for a synchronous standby is cancelled, PostgreSQL reports success with only a warning
// (docs/operating.md).

#include <memory>
#include <string>
#include <string_view>

#include "stet/session.hpp"

struct pg_conn;
typedef struct pg_conn PGconn;

namespace stet::postgres {

struct SessionOptions {
  // Another transaction's uncommitted claim of the same key: wait for its end (your lock_timeout bounds
  // that), or hear "in progress" at once.
  enum class Foreign : std::uint8_t { wait, answer_in_progress };
  Foreign foreign = Foreign::wait;
  // application: what `stet schema apply --app-role` grants, which is enough to claim, complete and the like;
  // find and list are then refused, and stored fingerprints are not shown. owner: the functions of the
  // gateway.
  enum class Rights : std::uint8_t { owner, application };
  Rights rights = Rights::application;
};

// Threads: those of the connection, one at a time. It keeps nothing on the connection, so it may be made for
// each transaction.
class Session final : public stet::Session {
 public:
  explicit Session(PGconn* borrowed, SessionOptions = {});

  // Waits without a limit of its own. Throws StoreError; the server has then aborted your transaction. Where none is
  // open, whatever writes is refused (not_written), and so is a Sweep: that is a pool's or the gateway's work.
  std::vector<Outcome> execute(std::span<const Command> batch) override;
  std::optional<Record> find(const OperationId&) override;
  Page list(const Filter&, std::size_t limit, const std::string& cursor) override;
  std::string emit(const Message&) override;
  Receipt receive(std::string_view source, std::string_view event_id) override;

 private:
  PGconn* connection_;
  SessionOptions options_;
};

}  // namespace stet::postgres
