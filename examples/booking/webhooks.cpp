#include "webhooks.hpp"

#include <openssl/crypto.h>
#include <openssl/hmac.h>

#include <chrono>
#include <cstdio>

#include "identity.hpp"
#include "ledger.hpp"

namespace booking {
namespace {

constexpr std::chrono::seconds kTolerance = std::chrono::minutes(5);

// HMAC-SHA256 over "id.timestamp.body", in hex.
std::string signature_of(const std::string& secret, const std::string& signed_text) {
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
  unsigned int size = 0;
  HMAC(EVP_sha256(), secret.data(), static_cast<int>(secret.size()),
       reinterpret_cast<const unsigned char*>(signed_text.data()), signed_text.size(), digest.data(), &size);
  static constexpr std::string_view digits = "0123456789abcdef";
  std::string text;
  for (unsigned int i = 0; i < size; ++i) {
    text += digits[digest[i] >> 4U];
    text += digits[digest[i] & 0x0fU];
  }
  return text;
}

bool is_genuine(const Request& request, const std::string& secret) {
  const std::string id(header(request, "webhook-id").value_or(""));
  const std::string at(header(request, "webhook-timestamp").value_or(""));
  const std::string given(header(request, "webhook-signature").value_or(""));
  // Over the bytes as they came. Trap: over JSON that was parsed and written again.
  const std::string expected = signature_of(secret, id + "." + at + "." + request.body);
  // Trap: ==, whose time tells how many characters were right.
  if (given.size() != expected.size() || CRYPTO_memcmp(given.data(), expected.data(), given.size()) != 0)
    return false;
  // Trap: no limit, and an event overheard a year ago is genuine for ever.
  const std::int64_t now =
      std::chrono::duration_cast<std::chrono::seconds>(std::chrono::system_clock::now().time_since_epoch())
          .count();
  std::int64_t then = 0;
  std::from_chars(at.data(), at.data() + at.size(), then);
  return std::abs(now - then) <= kTolerance.count();
}

}  // namespace

Response receive_event(Database& database, const std::string& secret, const Request& request) {
  if (!is_genuine(request, secret)) return refusal(401, "not signed by the provider, or too long ago");
  const std::string id(header(request, "webhook-id").value_or(""));
  if (id.empty()) return refusal(400, "an event without an id cannot be told from its repeat");
  const auto event = object_in(request.body);
  const std::string payment = text(event, "payment");
  const std::int64_t hotel = hotel_of(payment);
  // Trap: an error for what one does not know. It would be sent again for days.
  if (text(event, "type") != "charge.settled" || hotel <= 0) return json(200, {{"ignored", true}});

  Transaction tx = database.begin();
  // Trap: deduplicating on the payload (two equal settlements are two), on our payment's key, or in another
  // transaction than the effect: at a crash between them the event would be known and have done nothing.
  if (tx.session().receive("provider", id) == stet::Receipt::repeat)
    return json(200, {{"received", "before"}});
  // Trap: posting what a genuine event says. It may be about another shop's payment, or about another amount.
  const auto owed = tx.run(
      "SELECT amount FROM payments WHERE hotel_id = $1 AND id = $2 AND status <> 'declined'", hotel, payment);
  if (owed.empty()) return json(200, {{"ignored", true}});
  if (owed.number() != number(event, "amount")) {
    std::fprintf(stderr, "event %s settles another amount of payment %s than it was charged\n", id.c_str(),
                 payment.c_str());
    return refusal(409,
                   "that is not what was charged");  // and it comes again until somebody has looked into it
  }
  // The same settlement under another id. (Two such at once: one meets the primary key of the entries, and
  // comes again.)
  const auto settled = tx.run("SELECT 1 FROM entries WHERE hotel_id = $1 AND payment_id = $2 AND leg = $3",
                              hotel, payment, std::string(kSettlement.name));
  if (!settled.empty()) return json(200, {{"received", "before"}});
  post(tx, hotel, payment, kSettlement, owed.number());
  // Trap: 200 first, then the work. Only what is committed is acknowledged; otherwise let it come again.
  tx.commit();
  return json(200, {{"received", true}});
}

}  // namespace booking
