#pragma once
// PUT /orders/{uuid}: the client names what it creates, so its name is the key.
//
// Use it when the client can keep an id before it sends (it has to keep a key otherwise).
//
// Traps
// - An upsert (DO UPDATE): a late copy of the first PUT would undo a change made since. Insert, or leave
//   alone.
// - Reading in the same statement as the insert: PostgreSQL's loser sees neither row. Read in a new
//   statement.
// - Believing that a UUID belongs to whoever sends it: the owner is part of the key, or one customer answers
//   for another's.
// - Answering 409 to a repeat. The same content is the same order: the answer is the first one's.

#include "../sql/sql.hpp"
#include "outcome.hpp"

namespace shapes {

inline constexpr const char* kOrdersSchema =
    "CREATE TABLE orders (customer TEXT NOT NULL, id TEXT NOT NULL, item TEXT NOT NULL, quantity BIGINT NOT "
    "NULL,"
    " PRIMARY KEY (customer, id))";

struct Order {
  std::string customer;  // from the credentials, never from the body
  std::string id;        // made by the client
  std::string item;
  int quantity;
};

inline Outcome put_order(sql::Connection& db, const Order& order) {
  // The primary key excludes; no SELECT before it could.
  const auto inserted = db.run(
      "INSERT INTO orders (customer, id, item, quantity) VALUES ($1, $2, $3, $4) "
      "ON CONFLICT (customer, id) DO NOTHING",
      order.customer, order.id, order.item, order.quantity);
  if (inserted.changed == 1) return {Verdict::done, order.id};

  const auto there =
      db.run("SELECT item, quantity FROM orders WHERE customer = $1 AND id = $2", order.customer, order.id);
  if (there.empty()) return {Verdict::absent, order.id};  // deleted in between
  const bool same = there.rows[0][0] == order.item && there.rows[0][1] == std::to_string(order.quantity);
  return {same ? Verdict::done : Verdict::conflict, order.id};
}

}  // namespace shapes
