#pragma once
// POST /invoices: the business has named it already (supplier and invoice number), so nobody needs to make a
// key.
//
// Use it when that name is truly one for each intent, and given by whoever sends.
//
// Traps
// - Too narrow: `number` alone. Two suppliers both have an invoice 2031-1, and the second one's is swallowed.
// - Too wide: the amount in the key. A corrected copy is a second invoice, which is paid, too.
// - One name in two spellings: " 2031-1" and "2031-1". Normalise before, and let a CHECK hold it.
// - SELECT, then INSERT, without a constraint: two at once both find nothing. Only a unique constraint
//   excludes.
// - Swallowing what differs. The same number with another amount is a mistake somewhere, and must be said.

#include "../sql/sql.hpp"
#include "outcome.hpp"

namespace shapes {

inline constexpr const char* kInvoicesSchema =
    "CREATE TABLE invoices (supplier TEXT NOT NULL, number TEXT NOT NULL CHECK (number = "
    "upper(trim(number))),"
    " cents BIGINT NOT NULL, PRIMARY KEY (supplier, number))";

inline Outcome receive_invoice(sql::Connection& db, const std::string& supplier, const std::string& number,
                               std::int64_t cents) {
  const auto inserted = db.run(
      "INSERT INTO invoices (supplier, number, cents) VALUES ($1, upper(trim($2)), $3) "
      "ON CONFLICT (supplier, number) DO NOTHING",
      supplier, number, cents);
  if (inserted.changed == 1) return {Verdict::done, std::to_string(cents)};

  // A new statement: within the one above PostgreSQL would not show the row that another has just committed.
  const auto there =
      db.run("SELECT cents FROM invoices WHERE supplier = $1 AND number = upper(trim($2))", supplier, number);
  if (there.empty()) return {Verdict::absent, ""};
  return {there.number() == cents ? Verdict::done : Verdict::conflict, there.value()};
}

}  // namespace shapes
