#include "stores/postgres/schema.hpp"

#include "stores/postgres/schema_text.hpp"

namespace stet::stores::postgres {
namespace {

std::string with(std::string_view text, std::string_view name, std::string_view value) {
  std::string filled;
  for (std::size_t at = text.find(name); at != text.npos; at = text.find(name)) {
    filled.append(text.substr(0, at)).append(value);
    text.remove_prefix(at + name.size());
  }
  return filled.append(text);
}

std::string quoted(std::string_view identifier) {
  return '"' + with(identifier, "\"", "\"\"") + '"';
}

}  // namespace

std::string schema_sql(const SchemaOptions& options) {
  std::string sql;
  for (const std::string_view part : schema_text()) {
    sql.append(with(part, "@partitions@", std::to_string(options.partitions))).append("\n");
  }
  if (!options.app_role.empty()) sql += app_role_sql(options.app_role);
  return sql;
}

std::string app_role_sql(std::string_view role) {
  return with(app_role_text(), "@role@", quoted(role));
}

}  // namespace stet::stores::postgres
