#pragma once
// The tables of the booking service. Every one begins with the hotel, and on PostgreSQL is partitioned by it:
// what belongs together (room, hold, payment, ledger) lies together, and so does the key, because the hotel
// is part of its scope.

#include "../sql/sql.hpp"

namespace booking {

// Creates what is not there; may be run by several processes at once. Throws sql::Error.
void create_tables(sql::Connection&);

}  // namespace booking
