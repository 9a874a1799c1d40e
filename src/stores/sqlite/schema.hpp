#pragma once
// The file's layout. docs/adr/0002-append-only-sqlite-store.md says why it looks like this.

#include "stores/sqlite/database.hpp"

namespace stet::stores::sqlite {

inline constexpr int kSchemaVersion = 1;           // PRAGMA user_version
inline constexpr int kApplicationId = 0x53746574;  // "Stet"

// Creates the tables in an empty file, or moves an older one forward. Throws StoreError{incompatible} for a
// newer file and for one that is not Stet's.
void migrate(Database& database);

}  // namespace stet::stores::sqlite
