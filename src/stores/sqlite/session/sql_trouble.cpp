#include "stores/sqlite/session/sql_trouble.hpp"

namespace stet::stores::sqlite {

// Nothing that a statement did stays before the commit, so nothing here is in doubt.
StoreError trouble(const SqlError& error) {
  const std::string what = error.what();
  if (what.find("no such table: stet_") != std::string::npos) {
    return {StoreFailure::incompatible, what + ": Stet's tables are missing; stet::sqlite::apply_schema makes them"};
  }
  switch (error.code()) {
    case SQLITE_FULL:
      return {StoreFailure::full, what};
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
      return {StoreFailure::corrupt, what};
    case SQLITE_READONLY:
      return {StoreFailure::incompatible, what};
    default:
      return {StoreFailure::not_written, what};
  }
}

}  // namespace stet::stores::sqlite
