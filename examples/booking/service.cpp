#include "service.hpp"

#include <functional>

#include "identity.hpp"
#include "ledger.hpp"
#include "reservations.hpp"
#include "stet/http/httplib.hpp"
#include "webhooks.hpp"

namespace booking {
namespace {

// Whose key it is, and where it lies: the hotel, by which everything is partitioned, and the caller. Trap:
// the caller left out, and a stranger who sends the same key is shown somebody else's answer.
std::optional<std::string> scope_of(const Request& request) {
  const auto account = account_of(request);
  if (!account) return std::nullopt;  // 400: nobody's key
  const auto body = object_in(request.body);
  // Trap: believing a hotel_id beside a reservation_id. The payment's rows lie with the reservation, and
  // nobody finds them from a key that lies elsewhere.
  const std::int64_t reserved = hotel_of(text(body, "reservation_id"));
  const std::int64_t hotel = reserved > 0 ? reserved : number(body, "hotel_id");
  return std::to_string(hotel) + "-" + *account;
}

// What a handler may meet. Nothing of it has been committed, or it is the library's to say.
Response guarded(const std::function<Response()>& handler) {
  static constexpr int kAttempts = 5;
  for (int attempt = 1;; ++attempt) {
    try {
      return handler();
    } catch (const sql::Error& error) {
      // A deadlock's loser has done nothing. Run it again, but not for ever.
      if (error.kind() == sql::Failure::again && attempt < kAttempts) continue;
      std::fprintf(stderr, "%s\n", error.what());
      const bool passes = error.kind() == sql::Failure::again || error.kind() == sql::Failure::lost;
      Response response = refusal(passes ? 503 : 500, "the database does not do this now; send it again");
      response.headers.push_back({"Retry-After", "1"});
      return response;
    } catch (const stet::StoreError& error) {
      return stet::http::store_failed(error);
    } catch (const std::exception& error) {
      std::fprintf(stderr, "%s\n", error.what());
      return refusal(500, "this is our mistake; the same key may be sent again");
    }
  }
}

httplib::Server::Handler serve(std::function<Response(const Request&, const httplib::Match&)> handler) {
  return [handler = std::move(handler)](const httplib::Request& request, httplib::Response& response) {
    const Request asked = stet::http::from_httplib(request);
    stet::http::to_httplib(guarded([&] { return handler(asked, request.matches); }), response);
  };
}

std::int64_t integer(const std::string& text) {
  return text.size() > 15 ? 0 : std::stoll(text);
}

}  // namespace

void add_routes(httplib::Server& server, Database& database, Payments& payments, const Options& options) {
  const stet::http::Options keyed{.scope = scope_of};

  // Claim, rows, message and answer in one commit: at any kill all of it is there, or nothing.
  const auto reserve_once = stet::http::idempotent(keyed, [&database] { return database.begin(); }, reserve);
  server.Post("/reservations",
              serve([=](const Request& request, const auto&) { return reserve_once(request); }));
  // Another service is called: phases.
  server.Post("/payments", serve([=, &payments](const Request& request, const auto&) {
                return payments.pay(keyed, request);
              }));
  // These need no key: a transition, a natural key, and the event's own id.
  server.Post(R"(/reservations/([0-9a-f-]+)/cancel)",
              serve([&database](const Request& request, const auto& match) {
                return cancel(database, match[1], request);
              }));
  server.Put(R"(/hotels/(\d+)/nights/(\d{4}-\d\d-\d\d))",
             serve([&database](const Request& request, const auto& match) {
               return offer_night(database, integer(match[1]), match[2], request);
             }));
  server.Post("/webhooks/provider",
              serve([&database, secret = options.webhook_secret](const Request& request, const auto&) {
                return receive_event(database, secret, request);
              }));

  server.Get(R"(/hotels/(\d+)/nights/(\d{4}-\d\d-\d\d))",
             serve([&database](const Request&, const auto& match) {
               return show_night(database, integer(match[1]), match[2]);
             }));
  server.Get(R"(/reservations/([0-9a-f-]+))", serve([&database](const Request&, const auto& match) {
               return show_reservation(database, match[1]);
             }));
  server.Get(R"(/hotels/(\d+)/reservations)", serve([&database](const Request&, const auto& match) {
               return list_reservations(database, integer(match[1]));
             }));
  server.Get("/audit", serve([&database](const Request&, const auto&) { return audit(database); }));
}

}  // namespace booking
