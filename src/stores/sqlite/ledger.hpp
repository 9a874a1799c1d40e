#pragma once
// Records, the index of their keys, their leases and the recent answers, changed together: what a batch did
// to any of them becomes visible with its commit and is undone with its roll-back.

#include <optional>
#include <variant>
#include <vector>

#include "stores/answer_cache.hpp"
#include "stores/sqlite/connection.hpp"
#include "stores/sqlite/rows.hpp"
#include "stores/sqlite/session_state.hpp"
#include "stores/transition.hpp"

namespace stet::stores::sqlite {

class Ledger {
 public:
  // Rebuilds the index from the file. Throws SqlError, CorruptRow.
  Ledger(Connection& connection, std::size_t cached_answers);

  struct Found {
    Row row;
    Tag tag;
    Held held;  // without its answer
  };
  // Throw CorruptRow for a record that does not verify, so that nobody takes its key for free.
  std::optional<Found> find(const Place& place);
  std::optional<Found> find(const OperationId& id);
  std::optional<Found> at(Row row);
  Answer answer(const Found& found, WithBody body);

  // Makes a transition of `found` (nothing: of a key that was free) part of the transaction.
  void change(const std::optional<Found>& found, Transition& transition);

  // One pass over what is due by `now`, `limit` rows at the most. Damaged records stay, and are reported.
  result::Swept sweep(std::size_t limit, const Now& now);

  std::vector<Row> scan(Row after, std::optional<State> state, std::size_t limit) {
    return rows_.scan(after, state, limit);
  }

  void committed() noexcept;
  void rolled_back();

  // From any thread: a replay of what is durable.
  std::optional<result::Replay> replay(const command::Claim& claim) const { return answers_.replay(claim); }

 private:
  struct Keep {
    Record completed;
  };
  struct Drop {
    OperationId id;
  };

  template <class Same>
  std::optional<Found> find(Tag tag, Same same);
  void insert(const Held& held);
  void remove(Row row, Tag tag);
  void sweep_row(const Rows::Due& due, const Now& now, result::Swept& swept);

  Connection& connection_;
  Rows rows_;
  SessionState state_;
  AnswerCache answers_;
  Row next_row_ = 1;
  std::vector<std::variant<Keep, Drop>> after_commit_;
};

}  // namespace stet::stores::sqlite
