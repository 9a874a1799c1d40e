#pragma once
// Double-entry bookkeeping: money never appears, it moves from one account to another.

#include "database.hpp"
#include "http.hpp"

namespace booking {

// What moves an amount, and from where to where.
struct Leg {
  const char* name;
  const char* from;
  const char* to;
};
inline constexpr Leg kCharge{"charge", "revenue", "provider"};  // the provider owes us what the guest paid
inline constexpr Leg kSettlement{"settlement", "provider", "bank"};  // and has paid it out

// Both entries in one statement. A leg of a payment can be posted once; the second time throws sql::Error
// (constraint).
inline void post(Transaction& tx, std::int64_t hotel, const std::string& payment, const Leg& leg,
                 std::int64_t amount) {
  tx.run(
      "INSERT INTO entries (hotel_id, payment_id, leg, account, amount) VALUES ($1, $2, $3, $4, $5), ($1, "
      "$2, $3, $6, $7)",
      hotel, payment, leg.name, leg.from, -amount, leg.to, amount);
}

// GET /audit: what must hold at every moment, whoever was killed when. {"wrong": {…: 0, …}, "totals": {…}}
Response audit(Database&);

}  // namespace booking
