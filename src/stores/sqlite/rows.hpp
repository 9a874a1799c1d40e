#pragma once
// Records as rows, and rows as records that have been checked: every SQL text of the store that touches a
// record.

#include <optional>
#include <string_view>
#include <vector>

#include "stet/record.hpp"
#include "stores/sqlite/database.hpp"
#include "stores/sqlite/key_index.hpp"

namespace stet::stores::sqlite {

// A row that cannot be read or whose checksum does not fit. Neither replayed nor run again.
class CorruptRow : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

enum class WithBody : std::uint8_t { no, yes };

class Rows {
 public:
  explicit Rows(Database& database);

  void insert(Row row, Tag tag, const Record& record);
  void update(Row row, const Record& record);
  void remove(Row row);
  void put_answer(Row row, const Record& record);
  void drop_answer(Row row);

  // Without its answer. Nothing when there is no such row. Throws CorruptRow.
  std::optional<Record> load(Row row);
  // Of a completed record. Without its body the answer cannot be checked and is only for lists. Throws
  // CorruptRow.
  Answer load_answer(Row row, const Record& record, WithBody body);

  struct Due {
    WallTime at;
    Row row;
  };
  std::vector<Due> due(WallTime until, std::size_t limit);
  void add_due(const Due& due);
  void drop_due(const Due& due);

  // Up to `limit` rows after `after`, in order; with a state that has an index, only rows of that state.
  std::vector<Row> scan(Row after, std::optional<State> state, std::size_t limit);

  // Fills the index at start. A tag that was damaged is made again from its record. Throws CorruptRow when
  // that is damaged too: then nobody could say which key it excludes.
  Row fill(KeyIndex& index);  // the greatest row

 private:
  Statement insert_claim_;
  Statement insert_key_;
  Statement update_;
  Statement delete_claim_;
  Statement delete_key_;
  Statement insert_answer_;
  Statement delete_answer_;
  Statement select_;
  Statement select_answer_;
  Statement select_due_;
  Statement insert_due_;
  Statement delete_due_;
  Statement scan_;
  Statement scan_open_;
  Statement keys_;
};

Tag tag_of(const OperationId& id);

}  // namespace stet::stores::sqlite
