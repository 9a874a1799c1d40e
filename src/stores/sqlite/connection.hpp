#pragma once
// The connection as a store uses it: transactions that begin with the first write, a write-ahead log that is
// put into the file by ourselves (SQLite's own automatic checkpoint swallows its errors), and the end of the
// process when the disk may have lost what it confirmed.

#include <string>
#include <string_view>

#include "stet/error.hpp"
#include "stores/sqlite/database.hpp"
#include "stores/sqlite/sqlite_store.hpp"

namespace stet::stores::sqlite {

class Connection {
 public:
  // Opens and prepares the file, proves that it can be written, and moves its schema forward. Throws
  // SqlError, StoreError.
  Connection(const std::string& path, const Options& options, Room& room);

  Database& database() { return database_; }

  void begin();  // unless a transaction is open
  // Throws SqlError when nothing was committed and the store may go on. Does not return from an I/O error.
  void commit();
  void roll_back();

  void checkpoint_when_long();
  void checkpoint();

  void refuse_if_broken() const;
  // What an error of a statement means, after the roll-back. Does not return from an I/O error of a write.
  StoreError store_error(const SqlError& error);
  void notice(std::string_view text) const;

 private:
  void prove_writable();
  [[noreturn]] void end(const std::string& last_words);
  static int wal_has_grown(void* self, sqlite3*, const char*, int pages);

  const std::string path_;
  const Options& options_;
  Room& room_;
  Database database_;
  int log_pages_ = 0;
  int log_limit_ = 0;
  bool broken_ = false;
};

bool is_read_error(const SqlError& error);
StoreError opening_failed(const std::string& path, const SqlError& error);
// The default of Options::die.
[[noreturn]] void end_process(const std::string& last_words);

}  // namespace stet::stores::sqlite
