#pragma once
// How long the machine is patient with a store, and how it paces itself.

#include <algorithm>

#include "stet/record.hpp"

namespace stet::pace {

// How long a store that does not answer is tried before the caller hears of it: longer than a dropped connection takes to be
// made anew, and shorter than most callers wait.
inline constexpr milliseconds kStoreGrace = std::chrono::seconds(2);
inline constexpr milliseconds kFirstPause{20};
inline constexpr milliseconds kLongestPause = std::chrono::seconds(1);
// A record that changes under each of our looks is alive: after so many the caller is told "in progress".
inline constexpr std::uint32_t kMostRounds = 16;

inline milliseconds longer(milliseconds pause) {
  return std::clamp(pause * 2, kFirstPause, kLongestPause);
}

}  // namespace stet::pace
