#include "stet/postgres/session.hpp"

#include <libpq-fe.h>

#include <algorithm>

#include "stores/listing.hpp"
#include "stores/messages.hpp"
#include "stores/postgres/headers_json.hpp"
#include "stores/postgres/listing_sql.hpp"
#include "stores/postgres/round.hpp"

namespace stet::postgres {
namespace {

namespace pg = stet::stores::postgres;

pg::Foreign foreign(const SessionOptions& options) {
  return options.foreign == SessionOptions::Foreign::wait ? pg::Foreign::wait
                                                          : pg::Foreign::answer_in_progress;
}

pg::Caller caller(const SessionOptions& options) {
  return options.rights == SessionOptions::Rights::owner ? pg::Caller::session_of_owner
                                                         : pg::Caller::session_of_application;
}

pg::Single single(const SessionOptions& options) {
  return options.rights == SessionOptions::Rights::owner ? pg::Single::in_lists : pg::Single::as_it_is;
}

// What `run` needs: a connection that is there, idle or in a transaction that has not failed.
void check(PGconn* connection) {
  switch (PQtransactionStatus(connection)) {
    case PQTRANS_IDLE:
    case PQTRANS_INTRANS:
      return;
    case PQTRANS_INERROR:
      throw StoreError(StoreFailure::not_written, "the transaction has failed already; roll it back");
    case PQTRANS_ACTIVE:
      throw StoreError(StoreFailure::not_written, "the connection is busy with another statement");
    case PQTRANS_UNKNOWN:
      throw StoreError(StoreFailure::not_written, "the connection is closed");
  }
}

// A claim that commits by itself joins nothing: the work's rows would be committed without it, and run again.
void need_transaction(PGconn* connection) {
  if (PQtransactionStatus(connection) != PQTRANS_IDLE) return;
  throw StoreError(StoreFailure::not_written,
                   "no transaction is open on this connection: begin one before using its session");
}

pg::ResultPtr run(PGconn* connection, const char* sql, pg::Parameters& parameters) {
  check(connection);
  return pg::run(connection, sql, parameters, std::nullopt);
}

}  // namespace

Session::Session(PGconn* borrowed, SessionOptions options) : connection_(borrowed), options_(options) {}

std::vector<Store::Outcome> Session::execute(std::span<const Command> batch) {
  if (!batch.empty()) need_transaction(connection_);
  std::vector<Outcome> outcomes(batch.size(), Failed{StoreFailure::not_written, "a session does not sweep"});
  pg::Places places;
  for (std::size_t i = 0; i < batch.size(); ++i) {
    if (std::holds_alternative<command::Sweep>(batch[i])) continue;
    if (auto failed = pg::unfit(batch[i])) {
      outcomes[i] = *std::move(failed);
    } else {
      places.push_back(i);
    }
  }
  for (pg::Places& places_of_round : pg::rounds_of(batch, std::move(places))) {
    pg::Round round(batch, std::move(places_of_round), foreign(options_), single(options_));
    const pg::ResultPtr result = run(connection_, round.statement(caller(options_)).c_str(), round.parameters());
    round.read(result.get(), outcomes);
  }
  return outcomes;
}

std::optional<Record> Session::find(const OperationId& id) {
  pg::Parameters parameters;
  parameters.add_uuid(id.bytes);
  const pg::ResultPtr found = run(connection_, pg::kFind, parameters);
  try {
    return pg::record_of(found.get());
  } catch (const pg::BadRow& bad) {
    throw StoreError(StoreFailure::corrupt, "PostgreSQL: " + bad.what);
  }
}

Page Session::list(const Filter& filter, std::size_t limit, const std::string& cursor) {
  limit = std::clamp<std::size_t>(limit, 1, stores::kMostListed);
  pg::Parameters parameters = pg::list_parameters(filter, limit, cursor);
  const pg::ResultPtr found = run(connection_, pg::kList, parameters);
  return pg::page_of(found.get(), limit, [](const std::string&) {});
}

std::string Session::emit(const Message& message) {
  need_transaction(connection_);
  stores::must_fit(message);
  pg::Parameters parameters;
  parameters.add_text(message.topic);
  parameters.add_bytes(message.payload);
  message.order_key ? parameters.add_text(*message.order_key) : parameters.add_null(pg::Type::text);
  parameters.add_text(pg::to_json(message.headers).value());
  const pg::ResultPtr sent =
      run(connection_, "SELECT stet.emit($1, $2, $3, $4::jsonb)::text AS id", parameters);
  return std::string(pg::Row(sent.get(), 0).bytes("id"));
}

Receipt Session::receive(std::string_view source, std::string_view event_id) {
  need_transaction(connection_);
  stores::must_fit(source, event_id);
  pg::Parameters parameters;
  parameters.add_text(source);
  parameters.add_text(event_id);
  const pg::ResultPtr received = run(connection_, "SELECT stet.receive($1, $2) AS first", parameters);
  return pg::Row(received.get(), 0).boolean("first") ? Receipt::first : Receipt::repeat;
}

}  // namespace stet::postgres
