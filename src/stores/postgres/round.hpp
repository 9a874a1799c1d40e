#pragma once
// A batch as calls of stet.execute, or of its parts: each takes every (scope, key) at most once, so commands on one record go
// into rounds, which run in their order.

#include <cstdint>
#include <deque>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "stet/store.hpp"
#include "stores/postgres/arrays.hpp"
#include "stores/postgres/query.hpp"
#include "stores/postgres/rows.hpp"

namespace stet::stores::postgres {

// Places in the batch.
using Places = std::vector<std::size_t>;

// Splits the commands at `places` (none of them a Sweep) into rounds.
std::vector<Places> rounds_of(std::span<const Command> batch, Places places);
// A round in statements that the server can take, and answer in time: large answers do not all go in one.
std::vector<Places> parts_of(std::span<const Command> batch, const Places& round);

// Why PostgreSQL could not take this command at all; it is then no part of any round.
std::optional<Store::Failed> unfit(const Command& command);

enum class Foreign : std::uint8_t { wait, answer_in_progress };  // another transaction's uncommitted claim
// Who calls, and so which function and how it treats the lease: in somebody's open transaction that stays as
// it is, because others renew it meanwhile.
enum class Caller : std::uint8_t {
  gateway,
  gateway_at_ease,  // takes synchronous_commit = off as it finds it (Durability::os)
  session_of_owner,
  session_of_application
};

// Whether a claim or a completion that is the only one of its round goes as it is, and not in lists of one:
// what session_of_application may call for that is much cheaper.
enum class Single : std::uint8_t { in_lists, as_it_is };

class Round {
 public:
  // The batch must outlive this. `places` holds every (scope, key) once.
  Round(std::span<const Command> batch, Places places, Foreign foreign, Single single = Single::in_lists);

  std::string statement(Caller caller) const;
  Parameters& parameters() { return parameters_; }

  // A completed answer as the store now has it, which a cache may keep.
  struct Answered {
    std::size_t place = 0;
    Fingerprint fingerprint;
    std::optional<milliseconds> left;  // of the retention, by the store's clock; none: forever
  };
  struct Told {
    std::vector<Answered> answered;
    Places locked;  // claims that met another transaction on its way; told "in progress" until somebody knows
                    // better
  };
  // What each command was told, put at its place in `outcomes`. Throws PgError when the answer is not one for
  // each.
  Told read(const PGresult* result, std::vector<Store::Outcome>& outcomes) const;

 private:
  std::string calls(Caller) const;
  void write_claims();
  void write_completes();
  void write_others();
  Array& column(Type);
  std::size_t place_of(const Row& row) const;

  std::span<const Command> batch_;
  Places claims_;
  Places completes_;
  Places others_;
  bool alone_ = false;        // one command, as it is
  std::deque<Array> arrays_;  // where they are stays the same
  Parameters parameters_;
};

}  // namespace stet::stores::postgres
