#pragma once
// Rooms: offered, held, given back.

#include "database.hpp"
#include "http.hpp"

namespace booking {

// PUT /hotels/{hotel}/nights/{night} {"rooms", "price"}: offers a night. The name is the key; what is offered
// stays.
Response offer_night(Database&, std::int64_t hotel, const std::string& night, const Request&);

// POST /reservations {"hotel_id", "night", "guest"}, within the transaction that also records its answer.
Response reserve(const Request&, Transaction&);

// POST /reservations/{id}/cancel. A transition, which needs no key.
Response cancel(Database&, const std::string& id, const Request&);

// GET /hotels/{hotel}/nights/{night}
Response show_night(Database&, std::int64_t hotel, const std::string& night);
// GET /reservations/{id} and GET /hotels/{hotel}/reservations
Response show_reservation(Database&, const std::string& id);
Response list_reservations(Database&, std::int64_t hotel);

}  // namespace booking
