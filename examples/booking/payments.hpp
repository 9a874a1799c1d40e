#pragma once
// POST /payments {"reservation_id", "card"}: charges the card of somebody else's provider, which no
// transaction of ours spans. So it goes in phases, with a recovery point between them: whoever comes after a
// crash goes on from there.

#include "database.hpp"
#include "http.hpp"
#include "provider.hpp"
#include "stet/completer.hpp"
#include "stet/http/idempotent.hpp"
#include "stet/phases.hpp"

namespace booking {

class Payments {
 public:
  // All outlive it. `lease`: how soon after a crash somebody else goes on.
  Payments(Database&, const Provider&, stet::Renewer&, std::chrono::milliseconds lease);

  Response pay(const stet::http::Options&, const Request&);
  // For payments whose process died and whose client never came back.
  stet::Completer completer(std::function<void(std::string_view)> notice);

 private:
  struct Wish {
    std::int64_t hotel = 0;
    std::string reservation;
    std::string account;
    std::string card;
  };
  std::vector<stet::Phase> phases(const Wish&);
  void accept(stet::Running&, const Wish&);
  void charge(stet::Running&, std::int64_t hotel);
  std::optional<std::vector<stet::Phase>> resume(const stet::Record&);

  Database& database_;
  const Provider& provider_;
  stet::Renewer& renewer_;
  stet::PhaseOptions options_;
};

}  // namespace booking
