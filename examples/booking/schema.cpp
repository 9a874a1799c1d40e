#include "schema.hpp"

#include <array>

namespace booking {
namespace {

struct Table {
  const char* name;
  const char* columns;
};

// Amounts are whole cents: a double has no business in a ledger.
constexpr std::array kTables{
    // The stock: so many rooms are free in that night.
    Table{"nights",
          "hotel_id BIGINT NOT NULL, night TEXT NOT NULL, price BIGINT NOT NULL CHECK (price > 0), rooms "
          "BIGINT NOT NULL, "
          "free BIGINT NOT NULL CHECK (free BETWEEN 0 AND rooms), PRIMARY KEY (hotel_id, night)"},
    // status: held → paying → paid, paying → held (declined), held → cancelled
    Table{"reservations",
          "hotel_id BIGINT NOT NULL, id TEXT NOT NULL, account TEXT NOT NULL, night TEXT NOT NULL, guest "
          "TEXT NOT NULL, "
          "price BIGINT NOT NULL, status TEXT NOT NULL, payment_id TEXT, PRIMARY KEY (hotel_id, id)"},
    // Trap: a room held twice by one reservation. The primary key forbids it, whatever the code does.
    Table{"holds",
          "hotel_id BIGINT NOT NULL, reservation_id TEXT NOT NULL, night TEXT NOT NULL, PRIMARY KEY "
          "(hotel_id, reservation_id)"},
    // status: accepted → charged | declined. What the second phase needs stands here, not in the request; the
    // card as the provider's own name for it, never its number.
    Table{"payments",
          "hotel_id BIGINT NOT NULL, id TEXT NOT NULL, reservation_id TEXT NOT NULL, amount BIGINT NOT NULL, "
          "card TEXT NOT NULL, "
          "status TEXT NOT NULL, charge_id TEXT, PRIMARY KEY (hotel_id, id)"},
    // Double entry: the amounts of one leg sum to nothing. Trap: a leg posted twice. Here that is an error,
    // not money.
    Table{"entries",
          "hotel_id BIGINT NOT NULL, payment_id TEXT NOT NULL, leg TEXT NOT NULL, account TEXT NOT NULL, "
          "amount BIGINT NOT NULL, "
          "PRIMARY KEY (hotel_id, payment_id, leg, account)"},
};

constexpr int kPartitions = 4;

std::string sqlite_schema() {
  // Kept in the file: a commit is one write to the log instead of several to the database and its journal.
  std::string script = "PRAGMA journal_mode = WAL;";
  for (const Table& table : kTables) {
    script += std::string("CREATE TABLE IF NOT EXISTS ") + table.name + " (" + table.columns + ");";
  }
  return script;
}

std::string postgres_schema() {
  // Trap: CREATE TABLE IF NOT EXISTS by two processes at once fails in one of them. The lock ends with the
  // transaction.
  std::string script = "BEGIN; SELECT pg_advisory_xact_lock(7226817);";
  for (const Table& table : kTables) {
    script += std::string("CREATE TABLE IF NOT EXISTS ") + table.name + " (" + table.columns +
              ") PARTITION BY HASH (hotel_id);";
    for (int i = 0; i < kPartitions; ++i) {
      script += std::string("CREATE TABLE IF NOT EXISTS ") + table.name + "_" + std::to_string(i) +
                " PARTITION OF " + table.name + " FOR VALUES WITH (MODULUS " + std::to_string(kPartitions) +
                ", REMAINDER " + std::to_string(i) + ");";
    }
  }
  return script + "COMMIT;";
}

}  // namespace

void create_tables(sql::Connection& db) {
  db.script(db.engine() == sql::Engine::sqlite ? sqlite_schema() : postgres_schema());
}

}  // namespace booking
