#pragma once
// Which server a connection has reached, and whether it will do. Asked on every connection, as the next one
// may reach another.

#include <cstdint>
#include <optional>
#include <string>

#include "stores/open.hpp"
#include "stores/postgres/connection.hpp"

namespace stet::stores::postgres {

// A promoted standby has a new timeline; another cluster has another system identifier.
struct Identity {
  std::optional<std::string> system;  // none: this role may not ask
  std::int64_t timeline = 0;          // 0: the server does not tell
  bool operator==(const Identity&) const = default;
};

enum class Schema : std::uint8_t { missing, present };

struct Server {
  enum class Way : std::uint8_t { direct, through_a_pooler };
  Identity identity;
  Way way = Way::direct;
  Schema schema = Schema::missing;
  std::string warning;  // for the log; empty: none
};

// Throws StoreError{incompatible}, whose text says what to do, when this server must not be used: too old, a
// standby, text in an encoding that does not keep it, commits that are acknowledged before they are durable.
// Statements of this connection that are no part of a transaction are READ COMMITTED from then on.
Server inspect(Connection& connection, Durability durability);

// Creates what is not there, when this role may; two gateways that start at once do not collide. An existing
// schema of another version, or one whose functions this role may not call, is StoreError{incompatible}.
void prepare_schema(Connection& connection, Schema found);

}  // namespace stet::stores::postgres
