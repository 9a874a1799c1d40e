#include <libpq-fe.h>

#include "sql.hpp"

namespace sql {
namespace {

using Answer = std::unique_ptr<PGresult, decltype(&PQclear)>;

class PostgresConnection final : public Connection {
 public:
  using Handle = std::unique_ptr<PGconn, void (*)(PGconn*)>;
  explicit PostgresConnection(Handle connection) : connection_(std::move(connection)) {}

  void script(const std::string& statements) override {
    check(Answer(PQexec(connection_.get(), statements.c_str()), &PQclear), statements);
  }
  Engine engine() const override { return Engine::postgres; }
  bool alive() const { return PQstatus(connection_.get()) == CONNECTION_OK; }

 private:
  Result execute(const std::string& text, const std::vector<std::string>& values) override {
    std::vector<const char*> pointers;
    for (const std::string& value : values) pointers.push_back(value.c_str());
    const Answer answer(PQexecParams(connection_.get(), text.c_str(), static_cast<int>(values.size()),
                                     nullptr, pointers.data(), nullptr, nullptr, 0),
                        &PQclear);
    check(answer, text);
    Result result;
    for (int i = 0; i < PQntuples(answer.get()); ++i) {
      auto& row = result.rows.emplace_back();
      for (int j = 0; j < PQnfields(answer.get()); ++j) row.emplace_back(PQgetvalue(answer.get(), i, j));
    }
    const std::string_view changed = PQcmdTuples(answer.get());
    // Of a SELECT it is the number of rows, which changed nothing.
    if (!changed.empty() && !std::string_view(PQcmdStatus(answer.get())).starts_with("SELECT")) {
      result.changed = std::stoll(std::string(changed));
    }
    return result;
  }

  void check(const Answer& answer, const std::string& statement) const {
    const ExecStatusType status = PQresultStatus(answer.get());
    if (status == PGRES_COMMAND_OK || status == PGRES_TUPLES_OK) {
      // Trap: COMMIT of a transaction in which something had failed is no error; it says ROLLBACK, and rolls
      // back.
      if (statement == "COMMIT" && std::string_view(PQcmdStatus(answer.get())) == "ROLLBACK") {
        throw Error(Failure::other, "rolled back instead of committed");
      }
      return;
    }
    const char* state = PQresultErrorField(answer.get(), PG_DIAG_SQLSTATE);
    const std::string_view code = state == nullptr ? "" : state;
    const Failure kind = !alive() || code.starts_with("57P")         ? Failure::lost
                         : code.starts_with("23")                    ? Failure::constraint
                         : code.starts_with("40") || code == "55P03" ? Failure::again
                                                                     : Failure::other;
    throw Error(kind, std::string(PQresultErrorMessage(answer.get())) + " in: " + statement);
  }

  Handle connection_;
};

}  // namespace

std::unique_ptr<Connection> open_postgres(const std::string& url) {
  PostgresConnection::Handle handle(PQconnectdb(url.c_str()), &PQfinish);
  if (PQstatus(handle.get()) != CONNECTION_OK) throw Error(Failure::lost, PQerrorMessage(handle.get()));
  PQsetNoticeProcessor(handle.get(), [](void*, const char*) {}, nullptr);
  auto connection = std::make_unique<PostgresConnection>(std::move(handle));
  // Trap: with `off` an acknowledged commit may be forgotten at a crash.
  connection->script("SET synchronous_commit = on");
  return connection;
}

std::unique_ptr<Connection> borrow(pg_conn* handle) {
  return std::make_unique<PostgresConnection>(PostgresConnection::Handle(handle, [](PGconn*) {}));
}

}  // namespace sql
