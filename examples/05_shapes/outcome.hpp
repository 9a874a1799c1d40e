#pragma once
#include <cstdint>
#include <string>

namespace shapes {

// What a caller is told. A repeat must be told the same as the first, so there is no "already done" here.
enum class Verdict : std::uint8_t {
  done,      // it is so, by this request or by an earlier copy of it
  conflict,  // something else stands there
  absent,    // nothing stands there
};

struct Outcome {
  Verdict verdict;
  std::string detail;  // what the answer's body would be made of
  bool operator==(const Outcome&) const = default;
};

}  // namespace shapes
