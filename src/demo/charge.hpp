#pragma once
// A charge, as the caller asks for it and as the ledger keeps it.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "stet/error.hpp"

namespace stet::demo {

struct ChargeOrder {
  std::int64_t amount = 0;       // in the currency's smallest unit
  std::string currency = "eur";  // three lower-case letters
  std::string description;
};

// What the request said about itself: the ledger keeps it, so that whoever counts effects can tell whose they
// are.
struct Provenance {
  std::optional<std::string> idempotency_key;
  std::optional<std::string> operation;  // Stet-Operation
  std::optional<std::string> attempt;    // Stet-Attempt
};

struct Charge {
  std::int64_t number = 0;
  ChargeOrder order;
  Provenance provenance;
  std::string
      response_id;         // fresh for every charge: tells two answers apart even if everything else is equal
  std::string created_at;  // RFC 3339, UTC

  std::string id() const;  // "ch_17"
};

struct OrderRefusal {
  int status = 400;  // 400: no JSON object; 422: one that is no charge
  std::string detail;
};

Expected<ChargeOrder, OrderRefusal> read_order(std::string_view body);
std::optional<std::int64_t> read_charge_id(std::string_view text);

// `padding` bytes of filler make the answer larger.
std::string charge_json(const Charge&, std::uint64_t padding);
std::string list_json(const std::vector<Charge>&, std::uint64_t count);
std::string error_json(int status, std::string_view detail);

}  // namespace stet::demo
