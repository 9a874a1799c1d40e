#pragma once
// What `stet schema apply` and `stet schema status` do: looking at the schema of a database, and bringing it there.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "stores/postgres/schema.hpp"

namespace stet::stores::postgres {

struct SchemaStatus {
  std::optional<int> version;        // none: there is no schema of Stet's
  int partitions = 0;                // of stet.operations, as counted
  std::vector<std::string> missing;  // what version kSchemaVersion has and this database has not
};
// Throws StoreError when the server cannot be asked.
SchemaStatus schema_status(const std::string& url);

enum class Applied : std::uint8_t { created, present };

// One transaction: the whole schema and the rights, or nothing. A present schema of this version is left as it is, and the
// rights of the application's role are granted (again). Throws StoreError; `incompatible` for a newer version, for a schema
// of that name that is not Stet's, for missing rights and for a role that does not exist.
Applied apply_schema(const std::string& url, const SchemaOptions& options);

}  // namespace stet::stores::postgres
