#pragma once
// What a request asks the demo to do wrong. The same words stand in the query (`?delay=2s&lose-answer`) and,
// for callers whose query is part of a fingerprint, in the header (`X-Demo-Fault: delay=2s, lose-answer`).

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "stet/error.hpp"

namespace stet::demo {

enum class Cut : std::uint8_t { none, before_effect, lost_answer, mid_answer };
enum class Crash : std::uint8_t { none, before_effect, after_effect };

struct Faults {
  std::chrono::milliseconds delay{};         // before the effect
  std::chrono::milliseconds answer_delay{};  // after the effect, before the first byte of the answer
  Cut cut = Cut::none;
  Crash crash = Crash::none;
  std::optional<int> refuse;      // this status and no effect, with `Stet-Not-Executed: 1`
  std::optional<int> fail;        // this status and no effect, unsaid
  std::optional<int> fail_after;  // this status, and the effect is there
  std::uint64_t padding = 0;      // bytes added to the answer
  bool once = false;              // only for the first request that carries this Idempotency-Key
};

// Query parameters that are no faults are somebody else's; in the header every word must be known.
Expected<Faults, std::string> read_faults(std::string_view query, std::string_view header);

}  // namespace stet::demo
