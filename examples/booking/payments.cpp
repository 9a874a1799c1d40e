#include "payments.hpp"

#include "identity.hpp"
#include "ledger.hpp"
#include "stet/derive.hpp"

namespace booking {
namespace {

// The same in every attempt. Trap: a random id, with which a second attempt would be a second payment.
std::string payment_id(std::int64_t hotel, const stet::OperationId& operation,
                       const stet::Fingerprint& fingerprint) {
  return std::to_string(hotel) + "-" + stet::derive(operation, fingerprint, "payment");
}
std::string payment_id(std::int64_t hotel, const stet::Running& operation) {
  return payment_id(hotel, operation.token().id(), operation.fingerprint());
}

void finish(stet::Running& operation, Transaction& tx, const Response& response) {
  // The last statement before the commit. If another attempt has taken over meanwhile (this process stood
  // still, say), it throws, and all rows of this phase roll back.
  operation.complete(tx.session(), stet::http::kept(response));
  tx.commit();
}

}  // namespace

Payments::Payments(Database& database, const Provider& provider, stet::Renewer& renewer,
                   std::chrono::milliseconds lease)
    : database_(database), provider_(provider), renewer_(renewer) {
  options_.lease = lease;
}

Response Payments::pay(const stet::http::Options& options, const Request& request) {
  const auto intent = stet::http::identify(options, request);
  if (!intent) return intent.error();
  const auto body = object_in(request.body);
  const Wish wish{hotel_of(text(body, "reservation_id")), text(body, "reservation_id"),
                  account_of(request).value_or(""), text(body, "card")};
  // What needs no look at the database is refused before anything is claimed.
  if (wish.hotel <= 0 || wish.card.empty()) return refusal(400, "reservation_id and card are needed");
  stet::PhaseOptions phase_options = options_;
  phase_options.refingerprint = [&](const stet::Recipe& recipe) {
    return stet::http::refingerprint(options, request, recipe);
  };
  try {
    return stet::http::answer(
        stet::run_phases(database_.pool(), renewer_, **intent, phase_options, phases(wish)));
  } catch (const Unanswered& unknown) {
    // Trap: "payment failed". Nobody knows, so it says so; the same key goes on from the last recovery point.
    Response later =
        refusal(503, std::string(unknown.what()) + "; send the same request with the same key again");
    later.headers.push_back({"Retry-After", "1"});
    return later;
  }
}

std::vector<stet::Phase> Payments::phases(const Wish& wish) {
  return {{"accepted", [this, wish](stet::Running& operation) { accept(operation, wish); }},
          {"charged", [this, hotel = wish.hotel](stet::Running& operation) { charge(operation, hotel); }}};
}

// Before the charge: the reservation is kept for this payment, and what the charge needs is written down.
void Payments::accept(stet::Running& operation, const Wish& wish) {
  const std::string id = payment_id(wish.hotel, operation);
  Transaction tx = database_.begin();
  // Trap: two payments of one reservation under two keys. No key sees that; the transition does.
  const auto accepted = tx.run(
      "UPDATE reservations SET status = 'paying', payment_id = $3 WHERE hotel_id = $1 AND id = $2 AND "
      "account = $4 AND status = 'held' "
      "RETURNING price",
      wish.hotel, wish.reservation, id, wish.account);
  if (accepted.empty()) {
    const auto found =
        tx.run("SELECT status FROM reservations WHERE hotel_id = $1 AND id = $2 AND account = $3", wish.hotel,
               wish.reservation, wish.account);
    return finish(operation, tx,
                  found.empty() ? refusal(404, "there is no such reservation")
                                : refusal(409, "the reservation is " + found.value()));
  }
  tx.run(
      "INSERT INTO payments (hotel_id, id, reservation_id, amount, card, status) VALUES ($1, $2, $3, $4, $5, "
      "'accepted')",
      wish.hotel, id, wish.reservation, accepted.value(), wish.card);
  operation.advance(tx.session());
  tx.commit();
}

void Payments::charge(stet::Running& operation, std::int64_t hotel) {
  const std::string id = payment_id(hotel, operation);
  // Trap: a transaction held while another service is called: locks and a connection for as long as that
  // takes.
  const auto payment =
      database_.begin()
          .run("SELECT amount, card, reservation_id FROM payments WHERE hotel_id = $1 AND id = $2", hotel, id)
          .rows.at(0);
  const std::string& reservation = payment[2];
  // A kill before, during or after this call runs this phase again. Trap: the client's own key for the
  // provider; two of our callers may use the same one. It derives from the whole operation, so the provider
  // sees one key, and charges once.
  const Charge charge = provider_.charge(operation.derive("charge"), id, std::stoll(payment[0]), payment[1]);

  Transaction tx = database_.begin();
  if (charge.verdict == Charge::Verdict::declined) {
    tx.run("UPDATE payments SET status = 'declined' WHERE hotel_id = $1 AND id = $2 AND status = 'accepted'",
           hotel, id);
    tx.run(
        "UPDATE reservations SET status = 'held', payment_id = NULL WHERE hotel_id = $1 AND id = $2 AND "
        "payment_id = $3",
        hotel, reservation, id);
    return finish(operation, tx, refusal(402, "the card was declined"));
  }
  tx.run(
      "UPDATE payments SET status = 'charged', charge_id = $3 WHERE hotel_id = $1 AND id = $2 AND status = "
      "'accepted'",
      hotel, id, charge.id);
  tx.run("UPDATE reservations SET status = 'paid' WHERE hotel_id = $1 AND id = $2 AND payment_id = $3", hotel,
         reservation, id);
  post(tx, hotel, id, kCharge, std::stoll(payment[0]));
  tx.session().emit({.topic = "payment.charged", .payload = id, .order_key = reservation, .headers = {}});
  finish(operation, tx,
         json(201, {{"id", id},
                    {"reservation_id", reservation},
                    {"amount", std::stoll(payment[0])},
                    {"charge", charge.id}}));
}

stet::Completer Payments::completer(std::function<void(std::string_view)> notice) {
  stet::CompleterOptions options;
  options.every = options_.lease;
  options.phases = options_;
  options.notice = std::move(notice);
  return {database_.pool(), renewer_, [this](const stet::Record& record) { return resume(record); },
          std::move(options)};
}

// Everything after the first phase stands in the payment's row, so nobody needs the request for it.
std::optional<std::vector<stet::Phase>> Payments::resume(const stet::Record& record) {
  const std::int64_t hotel = hotel_of(record.token.scope);
  const auto found = database_.begin().run("SELECT 1 FROM payments WHERE hotel_id = $1 AND id = $2", hotel,
                                           payment_id(hotel, record.id(), record.fingerprint));
  if (found.empty())
    return std::nullopt;  // nothing has happened yet, and only the request could say what should
  return phases({.hotel = hotel, .reservation = "", .account = "", .card = ""});
}

}  // namespace booking
