#pragma once
// A connection of the store's own: how it is made, and what a statement on it may take.

#include <libpq-fe.h>

#include <chrono>
#include <memory>
#include <string>

#include "stores/postgres/query.hpp"

namespace stet::stores::postgres {

struct CloseConnection {
  void operator()(PGconn* connection) const { PQfinish(connection); }
};
using ConnectionPtr = std::unique_ptr<PGconn, CloseConnection>;

// One thread at a time.
class Connection {
 public:
  // `url`: postgresql://…, postgres://… or libpq's key=value text, several hosts allowed. What it does not
  // say is set so that a dead peer is noticed within seconds and only a server that takes writes is used.
  // Throws StoreError: `incompatible` for a URL that cannot be read, `not_written` when nobody answered.
  // Messages never hold a password.
  static Connection open(const std::string& url, std::chrono::milliseconds operation_time);

  // Throws PgError. After one whose connection is gone nothing more can be run here. A commit that was not
  // confirmed by the synchronous standbys, because the wait was cancelled, is reported as success with a
  // warning: here it is `unavailable`.
  ResultPtr run(const char* sql, Parameters& parameters);
  ResultPtr run(const char* sql, Parameters& parameters, std::chrono::milliseconds time);
  ResultPtr run(const char* sql);
  ResultPtr run(const char* sql, std::chrono::milliseconds time);

  PGconn* get() const { return connection_.get(); }
  // Whether the server has closed it while it was idle; reads what has come, never blocks.
  bool is_alive() const;
  // Whether an operation that was given up has been answered since, or the connection is lost. Never blocks.
  bool has_ended();
  // Asks the server to stop a statement that only reads. For the last moment of a connection.
  void cancel_reading();

 private:
  struct Notices {
    bool wait_cancelled = false;
  };
  Connection(ConnectionPtr connection, std::chrono::milliseconds operation_time);
  static void notice(void* notices, const PGresult* result);
  ResultPtr unless_cancelled(ResultPtr result) const;

  std::unique_ptr<Notices> notices_;
  ConnectionPtr connection_;
  std::chrono::milliseconds operation_time_;
};

}  // namespace stet::stores::postgres
