#pragma once
// The schema `stet` as SQL (postgres/schema/): every statement, for a database that has none of it. Text only, no
// connection: who runs it puts a transaction around it.

#include <string>
#include <string_view>

namespace stet::stores::postgres {

inline constexpr int kSchemaVersion = 1;
inline constexpr int kMostPartitions = 1024;

struct SchemaOptions {
  int partitions = 16;   // of stet.operations, by the hash of the scope; 1 to kMostPartitions, for good
  std::string app_role;  // gets the rights of an application; empty: nobody
};
std::string schema_sql(const SchemaOptions& options = {});

// The rights of an application for a role that exists: the functions of the joint transaction, no table.
std::string app_role_sql(std::string_view role);

}  // namespace stet::stores::postgres
