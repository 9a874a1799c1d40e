#include "reservations.hpp"

#include "identity.hpp"

namespace booking {
namespace {

boost::json::object shown(const std::vector<std::string>& row) {
  return {{"id", row[0]},
          {"night", row[1]},
          {"guest", row[2]},
          {"price", std::stoll(row[3])},
          {"status", row[4]}};
}
// Trap: no limit. The sum of two amounts would be more than a database can add.
constexpr std::int64_t kMost = 1'000'000'000;

constexpr const char* kShown = "SELECT id, night, guest, price, status FROM reservations WHERE hotel_id = $1";

}  // namespace

Response offer_night(Database& database, std::int64_t hotel, const std::string& night,
                     const Request& request) {
  const auto body = object_in(request.body);
  const std::int64_t rooms = number(body, "rooms");
  const std::int64_t price = number(body, "price");
  if (hotel <= 0 || rooms <= 0 || price <= 0 || rooms > kMost || price > kMost)
    return refusal(400, "rooms and price are whole numbers above 0, and not above 1000000000");
  Transaction tx = database.begin();
  // Trap: DO UPDATE. A late copy would set the free rooms back to what they were before anybody came.
  tx.run(
      "INSERT INTO nights (hotel_id, night, price, rooms, free) VALUES ($1, $2, $3, $4, $4) ON CONFLICT DO "
      "NOTHING",
      hotel, night, price, rooms);
  const auto offered =
      tx.run("SELECT rooms, price FROM nights WHERE hotel_id = $1 AND night = $2", hotel, night);
  if (offered.rows[0][0] != std::to_string(rooms) || offered.rows[0][1] != std::to_string(price)) {
    return refusal(409, "this night is offered otherwise");
  }
  tx.commit();
  return json(200, {{"hotel_id", hotel}, {"night", night}, {"rooms", rooms}, {"price", price}});
}

Response show_night(Database& database, std::int64_t hotel, const std::string& night) {
  const auto found = database.begin().run(
      "SELECT price, rooms, free FROM nights WHERE hotel_id = $1 AND night = $2", hotel, night);
  if (found.empty()) return refusal(404, "that night is not offered");
  const auto& row = found.rows[0];
  return json(200,
              {{"price", std::stoll(row[0])}, {"rooms", std::stoll(row[1])}, {"free", std::stoll(row[2])}});
}

Response reserve(const Request& request, Transaction& tx) {
  const auto body = object_in(request.body);
  const std::int64_t hotel = number(body, "hotel_id");
  const std::string night = text(body, "night");
  const std::string guest = text(body, "guest");
  // Refusals are answers, too: recorded and repeated. All of them come before the first change, as what this
  // returns is committed whatever its status.
  if (hotel <= 0 || night.empty() || guest.empty())
    return refusal(400, "hotel_id, night and guest are needed");

  // Trap: SELECT free, compare, UPDATE. Two at once both see the last room; here the second waits and
  // compares afresh.
  const auto taken = tx.run(
      "UPDATE nights SET free = free - 1 WHERE hotel_id = $1 AND night = $2 AND free > 0 RETURNING price",
      hotel, night);
  if (taken.empty()) {
    const auto offered = tx.run("SELECT 1 FROM nights WHERE hotel_id = $1 AND night = $2", hotel, night);
    return offered.empty() ? refusal(404, "that night is not offered")
                           : refusal(409, "no room is left in that night");
  }
  const std::string id = new_id(hotel);
  tx.run("INSERT INTO holds (hotel_id, reservation_id, night) VALUES ($1, $2, $3)", hotel, id, night);
  tx.run(
      "INSERT INTO reservations (hotel_id, id, account, night, guest, price, status) VALUES ($1, $2, $3, $4, "
      "$5, $6, 'held')",
      hotel, id, account_of(request).value_or(""), night, guest, taken.value());
  // Trap: telling others before the commit. They would hear of a reservation that was rolled back; so the
  // message is a row.
  tx.session().emit({.topic = "reservation.held", .payload = id, .order_key = id, .headers = {}});
  Response created = json(201, {{"id", id},
                                {"night", night},
                                {"guest", guest},
                                {"price", std::stoll(taken.value())},
                                {"status", "held"}});
  created.headers.push_back({"Location", "/reservations/" + id});
  return created;
}

Response cancel(Database& database, const std::string& id, const Request& request) {
  const std::int64_t hotel = hotel_of(id);
  Transaction tx = database.begin();
  // Trap: knowing an id is no permission to cancel.
  const auto found =
      tx.run("SELECT status FROM reservations WHERE hotel_id = $1 AND id = $2 AND account = $3", hotel, id,
             account_of(request).value_or(""));
  if (found.empty()) return refusal(404, "there is no such reservation");
  // What was read is good for a 404 only. Trap: deciding by it. The state that it comes from stands in the
  // UPDATE.
  const auto cancelled = tx.run(
      "UPDATE reservations SET status = 'cancelled' WHERE hotel_id = $1 AND id = $2 AND status = 'held' "
      "RETURNING night",
      hotel, id);
  if (!cancelled.empty()) {
    // Only who has made the step gives the room back. Trap: doing it for every copy, which offers rooms that
    // are not there.
    tx.run("DELETE FROM holds WHERE hotel_id = $1 AND reservation_id = $2", hotel, id);
    tx.run("UPDATE nights SET free = free + 1 WHERE hotel_id = $1 AND night = $2", hotel, cancelled.value());
    tx.session().emit({.topic = "reservation.cancelled", .payload = id, .order_key = id, .headers = {}});
    tx.commit();
    return json(200, {{"id", id}, {"status", "cancelled"}});
  }
  const std::string status =
      tx.run("SELECT status FROM reservations WHERE hotel_id = $1 AND id = $2", hotel, id).value();
  // Trap: 409 for the copy of a success. It is cancelled, which was asked for.
  if (status == "cancelled") return json(200, {{"id", id}, {"status", status}});
  return refusal(409, status == "paid" ? "paid: ask for your money back" : "a payment is under way");
}

Response show_reservation(Database& database, const std::string& id) {
  const auto found = database.begin().run(std::string(kShown) + " AND id = $2", hotel_of(id), id);
  return found.empty() ? refusal(404, "there is no such reservation") : json(200, shown(found.rows[0]));
}

Response list_reservations(Database& database, std::int64_t hotel) {
  boost::json::array data;
  for (const auto& row : database.begin().run(std::string(kShown) + " ORDER BY id", hotel).rows)
    data.push_back(shown(row));
  const std::size_t count = data.size();
  return json(200, {{"count", count}, {"data", std::move(data)}});
}

}  // namespace booking
