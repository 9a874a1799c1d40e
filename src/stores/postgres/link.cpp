#include "stores/postgres/link.hpp"

#include <algorithm>
#include <utility>

namespace stet::stores::postgres {
namespace {

using namespace std::chrono_literals;

constexpr std::chrono::milliseconds kFirstPause = 50ms;
constexpr std::chrono::milliseconds kLongestPause = 1s;
// A server that waits for a synchronous standby holds every operation that came, with its connection. More of
// them would only take the connections that others need; when one of them ends, the server is tried again.
constexpr std::size_t kMostSilent = 3;

}  // namespace

void Watch::say(std::string_view line) {
  if (notice_) notice_(line);
}

void Watch::say_once(const std::string& line) {
  const std::lock_guard lock(mutex_);
  if (line == said_) return;
  said_ = line;
  say(line);
}

void Watch::reached(const Identity& identity) {
  const std::lock_guard lock(mutex_);
  const std::optional<Identity> before = last_;
  last_ = identity;
  if (before) {  // what this server does not tell stays as it was known
    if (!identity.system) last_->system = before->system;
    if (identity.timeline == 0) last_->timeline = before->timeline;
  }
  if (!std::exchange(said_, "").empty()) say("PostgreSQL answers again");
  if (!alarm_ || !before || *before == *last_) return;
  if (before->system && before->system != last_->system) {
    alarm_("the store is another PostgreSQL cluster than before: what was acknowledged is not known here");
  } else if (before->timeline != 0 && before->timeline != last_->timeline) {
    alarm_("PostgreSQL failed over, timeline " + std::to_string(before->timeline) + " to " +
           std::to_string(last_->timeline) +
           ": with an asynchronous standby, acknowledged claims and answers " +
           "may be lost; stet_lost_claims_total counts those that show");
  }
}

Link::Link(std::string url, Durability durability, std::chrono::milliseconds operation_time, Watch& watch)
    : url_(std::move(url)), durability_(durability), operation_time_(operation_time), watch_(watch) {}

void Link::open(OpenOptions::Missing missing) {
  const Server server = connect(missing);
  if (!server.warning.empty()) watch_.say(server.warning);
}

Server Link::connect(OpenOptions::Missing missing) {
  Connection connection = Connection::open(url_, operation_time_);
  Server server = inspect(connection, durability_);
  if (server.schema == Schema::missing && missing == OpenOptions::Missing::refuse) {
    throw StoreError(StoreFailure::incompatible, "PostgreSQL: there is no schema stet in this database");
  }
  prepare_schema(connection, server.schema);
  watch_.reached(server.identity);
  connection_ = std::move(connection);
  return server;
}

Connection& Link::get() {
  if (connection_ && connection_->is_alive()) return *connection_;
  connection_.reset();
  refuse_while_others_wait();
  if (std::chrono::steady_clock::now() < next_try_) throw StoreError(StoreFailure::not_written, why_not_);
  try {
    connect(OpenOptions::Missing::refuse);
  } catch (const StoreError& error) {
    why_not_ = error.what();
    watch_.say_once(why_not_);
    pause();
    throw StoreError(StoreFailure::not_written, why_not_);
  }
  return *connection_;
}

void Link::pause() {
  longest_pause_ = std::clamp(longest_pause_ * 2, kFirstPause, kLongestPause);
  std::uniform_int_distribution<std::int64_t> some(0, longest_pause_.count());
  next_try_ = std::chrono::steady_clock::now() + std::chrono::milliseconds(some(random_));
}

void Link::refuse_while_others_wait() {
  std::erase_if(silent_, [](Connection& connection) { return connection.has_ended(); });
  if (silent_.size() < kMostSilent) return;
  throw StoreError(StoreFailure::not_written, "PostgreSQL still has not answered earlier operations");
}

void Link::failed(const PgError& error) {
  if (error.connection() == PgError::Connection::usable) return;
  if (error.connection() == PgError::Connection::silent && connection_)
    silent_.push_back(*std::move(connection_));
  connection_.reset();
  why_not_ = error.what();
  watch_.say_once(why_not_);
  if (longest_pause_ > 0ms) {
    pause();
  } else {
    longest_pause_ = kFirstPause;  // the next attempt comes at once, the one after it not
  }
}

void Link::failed_reading(const PgError& error) {
  if (error.connection() != PgError::Connection::silent || !connection_) return failed(error);
  connection_->cancel_reading();
  connection_.reset();
}

void Link::succeeded() {
  longest_pause_ = 0ms;
}

}  // namespace stet::stores::postgres
