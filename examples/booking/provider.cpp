#include "provider.hpp"

#include <httplib.h>

#include <chrono>
#include <cstdio>
#include <random>
#include <thread>

#include "http.hpp"

namespace booking {
namespace {

constexpr int kAttempts = 3;

// Trap: everybody waits equally long and comes back at the same moment. Full jitter.
void pause_before(int attempt) {
  thread_local std::minstd_rand random{std::random_device{}()};
  const int most = 50 << attempt;
  std::this_thread::sleep_for(std::chrono::milliseconds(std::uniform_int_distribution(0, most)(random)));
}

}  // namespace

Charge Provider::charge(const std::string& key, const std::string& payment, std::int64_t amount,
                        const std::string& card) const {
  const std::string body =
      boost::json::serialize(boost::json::object{{"amount", amount}, {"card", card}, {"payment", payment}});
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    if (attempt > 0) pause_before(attempt);
    // Trap: a kept-alive connection that the other side has just closed: was the request read? A fresh one
    // for each attempt.
    httplib::Client client(url_);
    // Trap: no time-out, or one that is longer than the lease would be if nobody renewed it.
    client.set_connection_timeout(std::chrono::seconds(1));
    client.set_read_timeout(std::chrono::seconds(5));
    // Trap: a provider that forgets its keys sooner (often after 24 h) than we give up on a payment. Past
    // that, look the payment up there instead of repeating it. Trap: a new key for each attempt, which is a
    // new charge for each attempt.
    const auto answer =
        client.Post("/charges", httplib::Headers{{"Idempotency-Key", key}}, body, "application/json");
    // Trap: taking "no answer", or a 5xx, for "not charged".
    if (!answer || answer->status >= 500 || answer->status == 429 || answer->status == 409) continue;
    const auto said = object_in(answer->body);
    const std::string id = text(said, "id");
    // Trap: reading 201 alone. It may be about another amount than was asked for.
    if (answer->status == 201 && !id.empty() && number(said, "amount") == amount)
      return {Charge::Verdict::charged, id};
    if (answer->status == 402) return {Charge::Verdict::declined, ""};
    // Trap: reading a refusal of the request, or of the key, as a refusal of the card. Somebody has to look
    // into it.
    std::fprintf(stderr, "payment %s: the provider says %d: %s\n", payment.c_str(), answer->status,
                 answer->body.c_str());
    throw Unanswered("the payment provider gives no answer that fits");
  }
  throw Unanswered("the payment provider does not answer");
}

}  // namespace booking
