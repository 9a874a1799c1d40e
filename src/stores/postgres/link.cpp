#include "stores/postgres/link.hpp"

#include <algorithm>
#include <set>
#include <utility>

#include "stores/postgres/rows.hpp"

namespace stet::stores::postgres {
namespace {

using namespace std::chrono_literals;

constexpr std::chrono::milliseconds kFirstPause = 50ms;
constexpr std::chrono::milliseconds kLongestPause = 1s;
// A server that waits for a synchronous standby holds every operation that came, with its connection. More of
// them would only take the connections that others need; when one of them ends, the server is tried again.
constexpr std::size_t kMostSilent = 3;
// Which of our backends are still at it. One that has answered is idle, whether the answer came through or not, and of
// a server that was lost there is none on the next.
constexpr const char* kBusy =
    "SELECT pid FROM pg_stat_activity WHERE pid = ANY ($1) AND state IS DISTINCT FROM 'idle' AND pid <> pg_backend_pid()";

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
  when_ = std::chrono::steady_clock::now();
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

bool Watch::reached_since(std::chrono::steady_clock::time_point moment) {
  const std::lock_guard lock(mutex_);
  return when_ > moment;
}

Link::Link(std::string url, Durability durability, std::chrono::milliseconds operation_time, Watch& watch,
           Unanswered& unanswered)
    : url_(std::move(url)),
      durability_(durability),
      operation_time_(operation_time),
      watch_(watch),
      unanswered_(unanswered) {}

void Link::open(OpenOptions::Missing missing) {
  const Server server = connect(missing);
  watch_.reached(server.identity);
  if (!server.warning.empty()) watch_.say(server.warning);
}

Server Link::connect(OpenOptions::Missing missing) {
  Connection connection = Connection::open(url_, operation_time_);
  Server server = inspect(connection, durability_);
  if (server.schema == Schema::missing && missing == OpenOptions::Missing::refuse) {
    throw StoreError(StoreFailure::incompatible, "PostgreSQL: there is no schema stet in this database");
  }
  prepare_schema(connection, server.schema);
  connection_ = std::move(connection);
  return server;
}

Connection& Link::get() {
  if (connection_ && connection_->is_alive()) return *connection_;
  connection_.reset();
  // A pause ends early when another connection of this gateway has been made meanwhile.
  if (std::chrono::steady_clock::now() < next_try_ && !watch_.reached_since(tried_)) {
    throw StoreError(StoreFailure::not_written, why_not_);
  }
  try {
    return connect_again();
  } catch (const StoreError& error) {
    connection_.reset();
    why_not_ = error.what();
    watch_.say_once(why_not_);
    pause();
    throw StoreError(StoreFailure::not_written, why_not_);
  }
}

Connection& Link::connect_again() {
  const Server server = connect(OpenOptions::Missing::refuse);
  if (unanswered_.count(*this) >= kMostSilent && server.way == Server::Way::direct) forget_who_was_answered();
  if (unanswered_.count(*this) >= kMostSilent) {
    throw StoreError(StoreFailure::not_written, "PostgreSQL still has not answered earlier operations");
  }
  watch_.reached(server.identity);
  return *connection_;
}

// A network may have lost the answers, or the end of the connections, and keep that to itself: the server knows. (A
// pooler has numbers of its own for them.)
void Link::forget_who_was_answered() {
  Array ours(Type::int4);
  for (const int pid : unanswered_.backends(*this)) ours.add(std::int32_t{pid});
  Parameters parameters;
  parameters.add(ours);
  const ResultPtr busy = connection_->run(kBusy, parameters);
  std::set<int> pids;
  for (int i = 0; i < PQntuples(busy.get()); ++i) pids.insert(static_cast<int>(Row(busy.get(), i).integer("pid")));
  unanswered_.keep(*this, pids);
}

void Link::pause() {
  longest_pause_ = std::clamp(longest_pause_ * 2, kFirstPause, kLongestPause);
  std::uniform_int_distribution<std::int64_t> some(0, longest_pause_.count());
  tried_ = std::chrono::steady_clock::now();
  next_try_ = tried_ + std::chrono::milliseconds(some(random_));
}

void Link::failed(const PgError& error) {
  if (error.connection() == PgError::Connection::usable) return;
  if (error.connection() == PgError::Connection::silent && connection_) unanswered_.add(*this, *std::move(connection_));
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
