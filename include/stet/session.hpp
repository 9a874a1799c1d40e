#pragma once
// A store that lives in a transaction of yours: the key, your rows and your messages go into one commit.
//
// Owner: you own the connection, the session borrows it. A session never begins, commits or rolls back, and
// sets nothing on the connection. Keep one session beside each connection (it keeps statements prepared) and
// end it first.
// Threads: those of the connection, one at a time.
// Errors: StoreError. Roll the transaction back then; nothing of it has happened.

#include <optional>
#include <string>
#include <string_view>

#include "stet/store.hpp"

namespace stet {

// What is to be told to others if, and only if, the transaction commits. Where text is meant and is none
// (UTF-8 without NUL), or a header cannot be sent, it is refused before anything is written (not_written).
struct Message {
  std::string topic{};    // text
  std::string payload{};  // bytes
  // Text. Messages with the same one are delivered in the order of their commits.
  std::optional<std::string> order_key{};
  Headers headers{};  // names are tokens, values text without control characters
};

enum class Receipt : std::uint8_t { first, repeat };

class Session : public Store {
 public:
  // Writes the message into the outbox table. Returns its id (a UUID), by which a receiver drops repeats.
  virtual std::string emit(const Message&) = 0;

  // Whether this event of that source (both text) comes for the first time; with the commit it is known.
  // Always the event's own id, never a hash of its payload: two equal payments are two events.
  virtual Receipt receive(std::string_view source, std::string_view event_id) = 0;
};

}  // namespace stet
