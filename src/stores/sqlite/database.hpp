#pragma once
// One SQLite connection and its prepared statements. The only folder that includes sqlite3.h.

#include <sqlite3.h>

#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>

namespace stet::stores::sqlite {

// Whatever SQLite answers that is not OK, ROW or DONE. Stays inside this folder: the store turns it into a
// StoreError.
class SqlError : public std::runtime_error {
 public:
  SqlError(int extended_code, const std::string& what) : std::runtime_error(what), code_(extended_code) {}
  int code() const { return code_ & 0xff; }
  int extended_code() const { return code_; }

 private:
  int code_;
};

class Database {
 public:
  // `vfs` empty: the platform's.
  Database(const std::string& path, const std::string& vfs);
  explicit Database(sqlite3* borrowed) : handle_(borrowed), owner_(Owner::caller) {}
  ~Database();
  Database(const Database&) = delete;
  Database& operator=(const Database&) = delete;

  void run(const std::string& sql);
  std::int64_t integer(const std::string& sql);  // of the first row; throws when there is none
  std::string text(const std::string& sql);

  bool in_transaction() const { return sqlite3_get_autocommit(handle_) == 0; }
  bool read_only() const { return sqlite3_db_readonly(handle_, "main") != 0; }
  sqlite3* handle() const { return handle_; }
  [[noreturn]] void fail(int code, std::string_view doing) const;

 private:
  enum class Owner : std::uint8_t { here, caller };
  sqlite3* handle_ = nullptr;
  Owner owner_ = Owner::here;
};

class Statement {
 public:
  Statement(Database& database, std::string_view sql);
  ~Statement() { sqlite3_finalize(statement_); }
  Statement(const Statement&) = delete;
  Statement& operator=(const Statement&) = delete;

  // Parameters from 1. Bytes are not copied: they live until the statement is done or reset.
  Statement& bind(int parameter, std::int64_t value);
  Statement& bind(int parameter, std::string_view bytes);
  Statement& bind_null(int parameter);

  bool step();  // true: a row
  void run();   // for statements without rows: step and reset
  void reset() { sqlite3_reset(statement_); }

  // Columns from 0. Bytes live until the next step or reset.
  std::int64_t integer(int column) const { return sqlite3_column_int64(statement_, column); }
  std::string_view bytes(int column) const;
  bool is_null(int column) const { return sqlite3_column_type(statement_, column) == SQLITE_NULL; }

 private:
  Database& database_;
  sqlite3_stmt* statement_ = nullptr;
};

// Resets a statement that gives rows when its reader leaves, however it leaves: an unfinished read would keep
// the write-ahead log from being checkpointed.
class Rewind {
 public:
  explicit Rewind(Statement& statement) : statement_(statement) {}
  ~Rewind() { statement_.reset(); }
  Rewind(const Rewind&) = delete;
  Rewind& operator=(const Rewind&) = delete;

 private:
  Statement& statement_;
};

}  // namespace stet::stores::sqlite
