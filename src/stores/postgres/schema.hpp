#pragma once
// The schema `stet` as SQL (postgres/schema/): every statement, for a database that has none of it. Text
// only, no connection: who runs it puts a transaction around it.
//
// What a claim and a completion come to is written once there, for the many commands of a batch. The
// functions for one command of a service's transaction are made from that text, so that they cannot decide
// otherwise: what remains of a column is its one value. They are for the planner's sake: whose key is known
// before a statement starts opens one partition, who looks it up in an array opens all.

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
