#include <array>

#include "ledger.hpp"

namespace booking {
namespace {

struct Sum {
  const char* name;
  const char* statement;
};

// Each counts what must not be there.
constexpr std::array kWrong{
    Sum{"nights whose rooms do not add up",
        "SELECT count(*) FROM nights n WHERE rooms <> free + (SELECT count(*) FROM holds h "
        "WHERE h.hotel_id = n.hotel_id AND h.night = n.night)"},
    Sum{"holds without a living reservation",
        "SELECT count(*) FROM holds h WHERE NOT EXISTS (SELECT 1 FROM reservations r "
        "WHERE r.hotel_id = h.hotel_id AND r.id = h.reservation_id AND r.status <> 'cancelled')"},
    Sum{"living reservations without a hold",
        "SELECT count(*) FROM reservations r WHERE status <> 'cancelled' AND NOT EXISTS (SELECT 1 FROM holds "
        "h "
        "WHERE h.hotel_id = r.hotel_id AND h.reservation_id = r.id)"},
    Sum{"legs that do not sum to nothing",
        "SELECT count(*) FROM (SELECT 1 FROM entries GROUP BY hotel_id, payment_id, leg HAVING sum(amount) "
        "<> 0) unbalanced"},
    Sum{"charged payments without their entries",
        "SELECT count(*) FROM payments p WHERE status = 'charged' AND NOT EXISTS (SELECT 1 FROM entries e "
        "WHERE e.hotel_id = p.hotel_id AND e.payment_id = p.id AND e.leg = 'charge' AND e.amount = "
        "p.amount)"},
    Sum{"entries of payments that are not charged",
        "SELECT count(*) FROM entries e WHERE leg = 'charge' AND NOT EXISTS (SELECT 1 FROM payments p "
        "WHERE p.hotel_id = e.hotel_id AND p.id = e.payment_id AND p.status = 'charged')"},
    Sum{"settlements that are not of their payment's amount",
        "SELECT count(*) FROM entries e WHERE leg = 'settlement' AND account = 'bank' AND NOT EXISTS (SELECT "
        "1 FROM "
        "payments p WHERE p.hotel_id = e.hotel_id AND p.id = e.payment_id AND p.status <> 'declined' AND "
        "p.amount = "
        "e.amount)"},
    Sum{"reservations that are not paid by exactly one payment",
        "SELECT count(*) FROM reservations r WHERE (SELECT count(*) FROM payments p WHERE p.hotel_id = "
        "r.hotel_id "
        "AND p.reservation_id = r.id AND p.status = 'charged') <> CASE WHEN r.status = 'paid' THEN 1 ELSE 0 "
        "END"},
};

constexpr std::array kTotals{
    Sum{"reservations", "SELECT count(*) FROM reservations"},
    Sum{"paying", "SELECT count(*) FROM reservations WHERE status = 'paying'"},
    Sum{"paid", "SELECT count(*) FROM reservations WHERE status = 'paid'"},
    Sum{"cancelled", "SELECT count(*) FROM reservations WHERE status = 'cancelled'"},
    Sum{"payments", "SELECT count(*) FROM payments WHERE status = 'charged'"},
    Sum{"cents", "SELECT coalesce(sum(amount), 0) FROM payments WHERE status = 'charged'"},
    Sum{"revenue", "SELECT coalesce(-sum(amount), 0) FROM entries WHERE account = 'revenue'"},
    Sum{"provider", "SELECT coalesce(sum(amount), 0) FROM entries WHERE account = 'provider'"},
    Sum{"bank", "SELECT coalesce(sum(amount), 0) FROM entries WHERE account = 'bank'"},
};

template <std::size_t N>
boost::json::object all(Transaction& tx, const std::array<Sum, N>& sums) {
  boost::json::object found;
  for (const Sum& sum : sums) found[sum.name] = tx.run(sum.statement).number();
  return found;
}

}  // namespace

Response audit(Database& database) {
  Transaction tx = database.begin();
  // One moment for all of them, or a payment between two counts would look like a fault.
  tx.repeatable_reads();
  return json(200, {{"wrong", all(tx, kWrong)}, {"totals", all(tx, kTotals)}});
}

}  // namespace booking
