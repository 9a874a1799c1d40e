#include "stores/sqlite/database.hpp"

namespace stet::stores::sqlite {

Database::Database(const std::string& path, const std::string& vfs) {
  const int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE;
  const int code = sqlite3_open_v2(path.c_str(), &handle_, flags, vfs.empty() ? nullptr : vfs.c_str());
  if (code == SQLITE_OK) return;
  const std::string why = handle_ != nullptr ? sqlite3_errmsg(handle_) : sqlite3_errstr(code);
  sqlite3_close_v2(handle_);
  throw SqlError(code, "cannot open " + path + ": " + why);
}

Database::~Database() {
  if (owner_ == Owner::here) sqlite3_close_v2(handle_);
}

void Database::fail(int code, std::string_view doing) const {
  throw SqlError(code, std::string(sqlite3_errmsg(handle_)) + " (" + std::string(doing) + ")");
}

void Database::run(const std::string& sql) {
  const int code = sqlite3_exec(handle_, sql.c_str(), nullptr, nullptr, nullptr);
  if (code != SQLITE_OK) fail(code, sql);
}

std::int64_t Database::integer(const std::string& sql) {
  Statement statement(*this, sql);
  if (!statement.step()) fail(SQLITE_ERROR, sql);
  return statement.integer(0);
}

std::string Database::text(const std::string& sql) {
  Statement statement(*this, sql);
  if (!statement.step()) fail(SQLITE_ERROR, sql);
  return std::string(statement.bytes(0));
}

Statement::Statement(Database& database, std::string_view sql) : database_(database) {
  const int code = sqlite3_prepare_v3(database.handle(), sql.data(), static_cast<int>(sql.size()),
                                      SQLITE_PREPARE_PERSISTENT, &statement_, nullptr);
  if (code != SQLITE_OK) database.fail(code, sql);
}

Statement& Statement::bind(int parameter, std::int64_t value) {
  const int code = sqlite3_bind_int64(statement_, parameter, value);
  if (code != SQLITE_OK) database_.fail(code, "bind");
  return *this;
}

Statement& Statement::bind(int parameter, std::string_view bytes) {
  // An empty view may have no address, which SQLite would take for NULL.
  const char* const data = bytes.data() != nullptr ? bytes.data() : "";
  const int code = sqlite3_bind_blob64(statement_, parameter, data, bytes.size(), SQLITE_STATIC);
  if (code != SQLITE_OK) database_.fail(code, "bind");
  return *this;
}

Statement& Statement::bind_null(int parameter) {
  const int code = sqlite3_bind_null(statement_, parameter);
  if (code != SQLITE_OK) database_.fail(code, "bind");
  return *this;
}

bool Statement::step() {
  const int code = sqlite3_step(statement_);
  if (code == SQLITE_ROW) return true;
  if (code == SQLITE_DONE) return false;
  const std::string why = sqlite3_errmsg(database_.handle());
  const std::string sql = sqlite3_sql(statement_);
  reset();
  throw SqlError(code, why + " (" + sql + ")");
}

void Statement::run() {
  step();
  reset();
}

std::string_view Statement::bytes(int column) const {
  const void* const data = sqlite3_column_blob(statement_, column);
  const auto size = static_cast<std::size_t>(sqlite3_column_bytes(statement_, column));
  return data == nullptr ? std::string_view() : std::string_view(static_cast<const char*>(data), size);
}

}  // namespace stet::stores::sqlite
