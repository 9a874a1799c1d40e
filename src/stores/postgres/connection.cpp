#include "stores/postgres/connection.hpp"

#include <poll.h>

#include <array>
#include <cstring>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

namespace stet::stores::postgres {
namespace {

struct FreeOptions {
  void operator()(PQconninfoOption* options) const { PQconninfoFree(options); }
};
using OptionsPtr = std::unique_ptr<PQconninfoOption, FreeOptions>;

struct Setting {
  const char* name;
  const char* value;
};

// What a URL that says nothing about them gets. A peer that vanished without a word is given up after ten
// seconds, sent data or not; an attempt to connect to one host after two.
constexpr std::array<Setting, 7> kUnlessSaid{{{"connect_timeout", "2"},
                                              {"target_session_attrs", "read-write"},
                                              {"fallback_application_name", "stet"},
                                              {"keepalives_idle", "5"},
                                              {"keepalives_interval", "2"},
                                              {"keepalives_count", "3"},
                                              {"tcp_user_timeout", "10000"}}};

// libpq's own words may repeat the text it could not read, which may hold a password.
OptionsPtr parse(const std::string& url) {
  char* error = nullptr;
  OptionsPtr options(PQconninfoParse(url.c_str(), &error));
  PQfreemem(error);
  if (!options) {
    throw StoreError(StoreFailure::incompatible,
                     "the store's URL cannot be read; postgresql://user:password@host:5432/database was "
                     "meant, with special "
                     "characters of the password percent-encoded");
  }
  return options;
}

std::string without(std::string text, std::string_view secret) {
  for (std::size_t at = 0; !secret.empty() && (at = text.find(secret, at)) != text.npos; at += 3) {
    text.replace(at, secret.size(), "***");
  }
  return text;
}

}  // namespace

Connection::Connection(ConnectionPtr connection, std::chrono::milliseconds operation_time)
    : notices_(std::make_unique<Notices>()),
      connection_(std::move(connection)),
      operation_time_(operation_time) {
  PQsetNoticeReceiver(connection_.get(), &Connection::notice, notices_.get());
  PQsetnonblocking(connection_.get(), 1);
}

Connection Connection::open(const std::string& url, std::chrono::milliseconds operation_time) {
  const OptionsPtr options = parse(url);
  std::vector<const char*> names;
  std::vector<const char*> values;
  std::set<std::string_view> said{"client_encoding"};
  std::string_view password;
  for (const PQconninfoOption* option = options.get(); option->keyword != nullptr; ++option) {
    if (option->val == nullptr || said.contains(option->keyword)) continue;
    said.insert(option->keyword);
    if (std::strcmp(option->keyword, "password") == 0) password = option->val;
    names.push_back(option->keyword);
    values.push_back(option->val);
  }
  for (const Setting& setting : kUnlessSaid) {
    if (said.contains(setting.name)) continue;
    names.push_back(setting.name);
    values.push_back(setting.value);
  }
  names.insert(names.end(), {"client_encoding", nullptr});
  values.insert(values.end(), {"UTF8", nullptr});
  ConnectionPtr connection(PQconnectdbParams(names.data(), values.data(), 0));
  if (!connection) throw std::bad_alloc();
  if (PQstatus(connection.get()) != CONNECTION_OK) {
    std::string why = PQerrorMessage(connection.get());
    while (why.ends_with('\n')) why.pop_back();
    throw StoreError(StoreFailure::not_written, "PostgreSQL: " + without(std::move(why), password));
  }
  return {std::move(connection), operation_time};
}

// The function that warns is looked at, as the message comes in the server's language.
void Connection::notice(void* notices, const PGresult* result) {
  const char* const source = PQresultErrorField(result, PG_DIAG_SOURCE_FUNCTION);
  if (source != nullptr && std::strcmp(source, "SyncRepWaitForLSN") == 0) {
    static_cast<Notices*>(notices)->wait_cancelled = true;
  }
}

ResultPtr Connection::unless_cancelled(ResultPtr result) const {
  if (!std::exchange(notices_->wait_cancelled, false)) return result;
  throw PgError(StoreFailure::unavailable,
                "PostgreSQL: the wait for the synchronous standby was cancelled, so what was written may not "
                "survive a failover",
                "01000", PgError::Connection::usable);
}

ResultPtr Connection::run(const char* sql, Parameters& parameters, std::chrono::milliseconds time) {
  return unless_cancelled(
      postgres::run(connection_.get(), sql, parameters, std::chrono::steady_clock::now() + time));
}

ResultPtr Connection::run(const char* sql, Parameters& parameters) {
  return run(sql, parameters, operation_time_);
}

ResultPtr Connection::run(const char* sql, std::chrono::milliseconds time) {
  return unless_cancelled(postgres::run(connection_.get(), sql, std::chrono::steady_clock::now() + time));
}

ResultPtr Connection::run(const char* sql) {
  return run(sql, operation_time_);
}

// A server that closes an idle connection may say why first, so what can be read is read to its end.
bool Connection::is_alive() const {
  while (PQstatus(connection_.get()) == CONNECTION_OK) {
    pollfd socket{PQsocket(connection_.get()), POLLIN, 0};
    if (::poll(&socket, 1, 0) <= 0) return true;
    if (PQconsumeInput(connection_.get()) == 0) return false;
  }
  return false;
}

bool Connection::has_ended() {
  if (PQconsumeInput(connection_.get()) == 0) return true;
  while (PQisBusy(connection_.get()) == 0) {
    if (!ResultPtr(PQgetResult(connection_.get()))) return true;
  }
  return false;
}

void Connection::cancel_reading() {
  const std::unique_ptr<PGcancel, decltype(&PQfreeCancel)> cancel(PQgetCancel(connection_.get()),
                                                                  &PQfreeCancel);
  std::array<char, 256> why{};
  if (cancel) PQcancel(cancel.get(), why.data(), static_cast<int>(why.size()));
}

}  // namespace stet::stores::postgres
