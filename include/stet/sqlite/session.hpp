#pragma once
// Stet in your own SQLite database: an ordinary table with a unique index, in your connection and transaction.
//
// Open the transaction with BEGIN IMMEDIATE. After a plain BEGIN that has already read, SQLite may answer "busy" to
// the first write whatever the busy timeout says; and outside a transaction a session refuses every write
// (StoreError, not_written), because a claim that commits by itself joins nothing.
// A concurrent duplicate waits for the database's one writer and then finds the first one's answer.

#include <memory>
#include <string_view>

#include "stet/session.hpp"

struct sqlite3;

namespace stet::sqlite {

// The tables stet_operations, stet_outbox and stet_inbox, for those who have migration tools of their own; what
// `stet schema print sqlite` prints. Can be run again and again.
std::string_view schema();

// Runs it. Outside a transaction it is one of its own. Throws StoreError.
void apply_schema(sqlite3*);

class Session final : public stet::Session {
 public:
  explicit Session(sqlite3* borrowed);
  ~Session() override;  // before sqlite3_close, which refuses while statements are prepared
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  std::vector<Outcome> execute(std::span<const Command> batch) override;
  std::optional<Record> find(const OperationId&) override;
  Page list(const Filter&, std::size_t limit, const std::string& cursor) override;
  std::string emit(const Message&) override;
  Receipt receive(std::string_view source, std::string_view event_id) override;

  class Inside;  // for the library's own pools, and its tests: a session with clocks of theirs
  explicit Session(std::unique_ptr<Inside>);

 private:
  std::unique_ptr<Inside> inside_;
};

}  // namespace stet::sqlite
