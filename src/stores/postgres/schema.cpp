#include "stores/postgres/schema.hpp"

#include <array>
#include <regex>

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

// Functions over the commands of a batch, and what each is called for one command.
struct Name {
  std::string_view batch;
  std::string_view alone;
};
constexpr std::array<Name, 4> kNames{{{"stet.run_claims(", "stet.run_claim("},
                                      {"stet.locks_for_session(", "stet.lock_for_session("},
                                      {"stet.enter_claims(", "stet.enter_claim("},
                                      {"stet.run_completes(", "stet.run_complete("}}};
constexpr std::string_view kAlone = "-- alone: ";
constexpr std::string_view kBatch = "  -- batch";

// A line of a batch's function as it stands in the one command's: without subscripts, or not at all.
std::string line_alone(std::string_view line) {
  static const std::regex type("\\b([cd]_\\w+|ids) (\\w+)\\[\\]");
  static const std::regex subscript("\\b([cd]_\\w+|ids)\\[[\\w.]+\\]");
  if (line.ends_with(kBatch)) return {};
  std::string text(line);
  if (const std::size_t at = text.find(kAlone); at != std::string::npos) text.erase(at, kAlone.size());
  text = std::regex_replace(std::regex_replace(text, type, "$1 $2"), subscript, "$1");
  text = with(with(text, "RETURNS SETOF", "RETURNS"), "RETURN NEXT", "RETURN");
  for (const Name& name : kNames) text = with(text, name.batch, name.alone);
  return text + "\n";
}

// The functions for one command that are made from those in `part`.
std::string alone(std::string_view part) {
  constexpr std::string_view kEnd = "\n$$;\n";
  std::string made;
  for (const Name& name : kNames) {
    const std::size_t begin = part.find("CREATE FUNCTION " + std::string(name.batch));
    if (begin == std::string_view::npos) continue;
    std::string_view left = part.substr(begin, part.find(kEnd, begin) + kEnd.size() - begin);
    made += '\n';
    for (std::size_t end = left.find('\n'); end != std::string_view::npos; end = left.find('\n')) {
      made += line_alone(left.substr(0, end));
      left.remove_prefix(end + 1);
    }
  }
  return made;
}

}  // namespace

std::string schema_sql(const SchemaOptions& options) {
  std::string sql;
  for (const std::string_view part : schema_text()) {
    sql.append(with(part, "@partitions@", std::to_string(options.partitions)))
        .append(alone(part))
        .append("\n");
  }
  if (!options.app_role.empty()) sql += app_role_sql(options.app_role);
  return sql;
}

std::string app_role_sql(std::string_view role) {
  return with(app_role_text(), "@role@", quoted(role));
}

}  // namespace stet::stores::postgres
