#include "stores/postgres/query.hpp"

#include <poll.h>

#include <cerrno>
#include <string>

namespace stet::stores::postgres {
namespace {

std::string connection_error(PGconn* connection) {
  std::string text = PQerrorMessage(connection);
  while (text.ends_with('\n')) text.pop_back();
  return text.empty() ? "the connection was lost" : text;
}

PgError lost(PGconn* connection) {
  return {StoreFailure::unavailable, "PostgreSQL: " + connection_error(connection), "",
          PgError::Connection::gone};
}

PgError too_late() {
  return {StoreFailure::unavailable, "PostgreSQL did not answer in time", "", PgError::Connection::silent};
}

void wait_for(PGconn* connection, short events, Deadline deadline) {
  for (;;) {
    const auto left =
        std::chrono::ceil<std::chrono::milliseconds>(deadline - std::chrono::steady_clock::now());
    if (left.count() <= 0) throw too_late();
    pollfd socket{PQsocket(connection), events, 0};
    if (socket.fd < 0) throw lost(connection);
    const int ready = ::poll(&socket, 1, static_cast<int>(left.count()));
    if (ready > 0) return;
    if (ready < 0 && errno != EINTR) throw lost(connection);
  }
}

void flush(PGconn* connection, Deadline deadline) {
  for (;;) {
    const int more = PQflush(connection);
    if (more == 0) return;
    if (more < 0) throw lost(connection);
    wait_for(connection, POLLIN | POLLOUT, deadline);
    if (PQconsumeInput(connection) == 0) throw lost(connection);
  }
}

// The last result; an error among them is the one that counts.
ResultPtr results(PGconn* connection, Deadline deadline) {
  ResultPtr last;
  for (;;) {
    while (PQisBusy(connection) != 0) {
      wait_for(connection, POLLIN, deadline);
      if (PQconsumeInput(connection) == 0) throw lost(connection);
    }
    ResultPtr next(PQgetResult(connection));
    if (!next) return last;
    if (!last || PQresultStatus(last.get()) != PGRES_FATAL_ERROR) last = std::move(next);
  }
}

ResultPtr checked(PGconn* connection, ResultPtr result) {
  if (!result) throw lost(connection);
  const ExecStatusType status = PQresultStatus(result.get());
  if (status == PGRES_TUPLES_OK || status == PGRES_COMMAND_OK) return result;
  if (status != PGRES_FATAL_ERROR) {  // a COPY, say: not ours
    throw PgError(StoreFailure::unavailable, "PostgreSQL: an unexpected answer", "",
                  PgError::Connection::gone);
  }
  throw error_of(result.get());
}

}  // namespace

ResultPtr run(PGconn* connection, const char* sql, Parameters& parameters, std::optional<Deadline> deadline) {
  if (!deadline) {
    return checked(connection, ResultPtr(PQexecParams(connection, sql, parameters.count(), parameters.types(),
                                                      parameters.values(), parameters.lengths(),
                                                      parameters.formats(), 1)));
  }
  if (PQsendQueryParams(connection, sql, parameters.count(), parameters.types(), parameters.values(),
                        parameters.lengths(), parameters.formats(), 1) == 0) {
    throw lost(connection);
  }
  flush(connection, *deadline);
  return checked(connection, results(connection, *deadline));
}

ResultPtr run(PGconn* connection, const char* sql, std::optional<Deadline> deadline) {
  if (!deadline) return checked(connection, ResultPtr(PQexec(connection, sql)));
  if (PQsendQuery(connection, sql) == 0) throw lost(connection);
  flush(connection, *deadline);
  return checked(connection, results(connection, *deadline));
}

}  // namespace stet::stores::postgres
