#pragma once
// What an answer tells a client that retries.

#include <vector>

#include "probe/response.hpp"

namespace stet::probe {

enum class Meaning : std::uint8_t {
  success,
  in_progress,  // 409, 423, 425, or 202 where success looks otherwise: the first attempt is still running
  try_later,    // 408, 429, 502, 503, 504: nothing is decided
  unknown,      // the server says that it does not know the outcome: honest, and final until somebody looks
  refused,      // any other 4xx
  broken,       // any other 5xx, or a status that a client cannot use
};

// `success_status` is that of the plain request: an API whose success is a 202 is not "in progress".
Meaning meaning(const Response&, int success_status);

bool is_success(int status);  // 2xx, or the 303 of a form's POST
bool is_replay_marked(const Response&);

// What differs between an answer and its repetition, for people; empty: the same. Date, Set-Cookie,
// identifiers of the single request, rate-limit counters, hop-by-hop fields and replay markers do not count.
// `ignored` names more headers that do not count.
std::string difference(const Response& first, const Response& second,
                       const std::vector<std::string>& ignored = {});

// For an answer that the client never had, and that cannot be compared: what it lacks of that of a plain
// request (its status, a body, a header). Empty: nothing.
std::string lacking(const Response& plain, const Response& answer,
                    const std::vector<std::string>& ignored = {});

// Whether `answer` shows something that only the owner of `first` should see: its whole body, or a value of
// it that stands in neither of the texts in `innocent` (the requests' bodies, the answer of a request of the
// caller's own).
bool leaks(const Response& first, const Response& answer, const std::vector<std::string>& innocent);

}  // namespace stet::probe
