#pragma once
// What an error of SQLite's means to somebody whose transaction is still open.

#include "stet/error.hpp"
#include "stores/sqlite/database.hpp"

namespace stet::stores::sqlite {

StoreError trouble(const SqlError& error);

}  // namespace stet::stores::sqlite
