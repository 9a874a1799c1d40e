#include "stores/sqlite/connection.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <limits>

#include "stores/sqlite/file_lock.hpp"
#include "stores/sqlite/schema.hpp"

namespace stet::stores::sqlite {
namespace {

constexpr int kPageBytes = 4096;
// A file that another program has open for a moment is worth waiting for at start.
constexpr int kBusyMs = 1000;

const std::string& made_private(const std::string& path) {
  create_private(path);
  return path;
}

void require(Database& database, const std::string& pragma, std::string_view wanted) {
  const std::string got = database.text("PRAGMA " + pragma);
  if (got == wanted) return;
  throw StoreError(StoreFailure::incompatible, "SQLite answers " + got + " to PRAGMA " + pragma);
}

}  // namespace

Connection::Connection(const std::string& path, const Options& options, Room& room)
    : path_(path), options_(options), room_(room), database_(made_private(path), options.vfs) {
  sqlite3_busy_timeout(database_.handle(), kBusyMs);
  // Exclusive before the first look at the log: the log's index then lives in our memory, no second
  // connection can exist, and with it not the corruption of SQLite 3.7.0 to 3.51.2 that needs one.
  require(database_, "locking_mode = EXCLUSIVE", "exclusive");
  database_.run("PRAGMA page_size = " + std::to_string(kPageBytes));
  require(database_, "journal_mode = WAL", "wal");
  database_.run(options.sync == Options::Sync::full ? "PRAGMA synchronous = FULL"
                                                    : "PRAGMA synchronous = NORMAL");
  database_.run("PRAGMA cache_size = -65536");
  database_.run("PRAGMA temp_store = MEMORY");
  database_.run("PRAGMA wal_autocheckpoint = 0");
  if (database_.read_only()) {
    throw StoreError(StoreFailure::incompatible, "the store cannot be written: " + path + " is read-only");
  }
  try {
    prove_writable();
  } catch (const SqlError& error) {
    roll_back();
    if (error.code() != SQLITE_FULL || !room_.give_up_ballast()) throw;
    prove_writable();
  }
  const auto limit = std::min<std::uint64_t>(room_.log_limit(), std::numeric_limits<int>::max());
  log_limit_ = static_cast<int>(limit) / kPageBytes;
  database_.run("PRAGMA journal_size_limit = " + std::to_string(2 * limit));
  sqlite3_wal_hook(database_.handle(), &Connection::wal_has_grown, this);
}

void Connection::prove_writable() {
  migrate(database_);
  database_.run("BEGIN IMMEDIATE");
  database_.run("INSERT INTO meta VALUES ('starts', 1) ON CONFLICT DO UPDATE SET value = value + 1");
  database_.run("COMMIT");
}

int Connection::wal_has_grown(void* self, sqlite3*, const char*, int pages) {
  static_cast<Connection*>(self)->log_pages_ = pages;
  return SQLITE_OK;
}

void Connection::begin() {
  if (!database_.in_transaction()) database_.run("BEGIN IMMEDIATE");
}

void Connection::commit() {
  if (!database_.in_transaction()) return;
  try {
    database_.run("COMMIT");
  } catch (const SqlError& error) {
    // What the disk holds now is anybody's guess: only reading it again after a restart can tell. An fsync that is asked
    // again may say yes to pages that the kernel has already thrown away.
    if (error.code() == SQLITE_IOERR) end(std::string("a commit failed: ") + error.what());
    throw;
  }
}

void Connection::roll_back() {
  if (broken_ || !database_.in_transaction()) return;
  try {
    database_.run("ROLLBACK");
  } catch (const SqlError& error) {
    end(std::string("a roll-back failed: ") + error.what());
  }
}

void Connection::checkpoint_when_long() {
  if (log_pages_ >= log_limit_) checkpoint();
}

void Connection::checkpoint() {
  const auto once = [this] {
    return sqlite3_wal_checkpoint_v2(database_.handle(), "main", SQLITE_CHECKPOINT_PASSIVE, nullptr, nullptr);
  };
  int code = once();
  if ((code & 0xff) == SQLITE_FULL && room_.give_up_ballast()) {
    notice(
        "the disk is full: the ballast was given up, so that the write-ahead log can be put into the file");
    code = once();
  }
  if ((code & 0xff) == SQLITE_IOERR)
    end(std::string("a checkpoint failed: ") + sqlite3_errmsg(database_.handle()));
  if (code != SQLITE_OK) notice(std::string("the write-ahead log stays as it is: ") + sqlite3_errstr(code));
  // Whatever the reason was, it is not asked again before the log has grown again.
  log_pages_ = 0;
}

void Connection::refuse_if_broken() const {
  if (broken_)
    throw StoreError(StoreFailure::unavailable, path_ + ": the store has stopped after an I/O error");
}

StoreError Connection::store_error(const SqlError& error) {
  if (error.code() == SQLITE_IOERR && !is_read_error(error))
    end(std::string("a write failed: ") + error.what());
  const std::string what = path_ + ": " + error.what();
  switch (error.code()) {
    case SQLITE_FULL:
      return {StoreFailure::full, what};
    case SQLITE_CORRUPT:
    case SQLITE_CONSTRAINT:  // two rows where the schema and the index allow one
      return {StoreFailure::corrupt, what};
    default:
      return {StoreFailure::not_written, what};
  }
}

void Connection::notice(std::string_view text) const {
  if (options_.notice) options_.notice(text);
}

void Connection::end(const std::string& last_words) {
  broken_ = true;
  options_.die(path_ + ": " + last_words + "; restart to go on from what the disk holds");
  throw StoreError(StoreFailure::unavailable, path_ + ": " + last_words);
}

bool is_read_error(const SqlError& error) {
  return error.extended_code() == SQLITE_IOERR_READ || error.extended_code() == SQLITE_IOERR_SHORT_READ ||
         error.extended_code() == SQLITE_IOERR_CORRUPTFS;
}

StoreError opening_failed(const std::string& path, const SqlError& error) {
  switch (error.code()) {
    case SQLITE_BUSY:
      return {StoreFailure::incompatible, path + " is in use by another program: " + error.what()};
    case SQLITE_CORRUPT:
      return {StoreFailure::corrupt, path + " is damaged: " + error.what()};
    case SQLITE_NOTADB:
      return {StoreFailure::incompatible, path + " is not a store of Stet's: " + error.what()};
    case SQLITE_FULL:
      return {StoreFailure::full, "the store cannot be written: " + path + ": " + error.what()};
    default:
      return {StoreFailure::incompatible, "the store cannot be written: " + path + ": " + error.what()};
  }
}

void end_process(const std::string& last_words) {
  std::fprintf(stderr, "stet: %s\n", last_words.c_str());
  std::fflush(stderr);
  ::_exit(3);
}

}  // namespace stet::stores::sqlite
