#include "keys_text.hpp"

#include <algorithm>
#include <array>
#include <boost/json/array.hpp>
#include <boost/json/serialize.hpp>
#include <boost/json/value.hpp>
#include <vector>

#include "admin/base64.hpp"

namespace stet::app {
namespace {

namespace json = boost::json;

// Keys and paths come from clients: nothing of them may steer a terminal.
std::string shown(const std::string& text) {
  std::string out;
  for (const char c : text) out += (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) ? '?' : c;
  return out;
}

std::string cell(const json::object& object, std::string_view member) {
  const json::value* value = object.if_contains(json::string_view(member.data(), member.size()));
  if (!value || value->is_null()) return "-";
  if (value->is_string()) return shown(std::string(value->get_string().c_str(), value->get_string().size()));
  if (value->is_bool()) return value->get_bool() ? "yes" : "no";
  return json::serialize(*value);
}

constexpr std::array<std::string_view, 8> kColumns{"id",         "state",  "status", "attempt",
                                                   "created_at", "method", "path",   "key"};

bool printable(const std::string& body) {
  return std::all_of(body.begin(), body.end(), [](char c) {
    return static_cast<unsigned char>(c) >= 0x20 ? c != 0x7f : c == '\n' || c == '\r' || c == '\t';
  });
}

}  // namespace

std::string list_text(const json::object& page) {
  std::vector<std::array<std::string, kColumns.size()>> rows(1);
  for (std::size_t i = 0; i < kColumns.size(); ++i) rows[0][i] = kColumns[i];
  for (const json::value& operation : page.at("operations").as_array()) {
    auto& row = rows.emplace_back();
    for (std::size_t i = 0; i < kColumns.size(); ++i) row[i] = cell(operation.as_object(), kColumns[i]);
  }
  if (rows.size() == 1) return "no operations\n";
  std::array<std::size_t, kColumns.size()> widths{};
  for (const auto& row : rows)
    for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
  std::string out;
  for (const auto& row : rows) {
    for (std::size_t i = 0; i < row.size(); ++i) {
      out += row[i];
      if (i + 1 < row.size()) out.append(widths[i] - row[i].size() + 2, ' ');
    }
    out += '\n';
  }
  if (const std::string next = cell(page, "next"); next != "-") out += "more with --cursor " + next + "\n";
  return out;
}

std::string operation_text(const json::object& operation) {
  std::string out;
  for (const std::string_view member :
       {"id", "scope", "key", "method", "path", "state", "attempt", "maybe_executed", "on_unknown",
        "created_at", "lease_until", "expires_at", "status"})
    out += std::string(member) + std::string(16 - member.size(), ' ') + cell(operation, member) + "\n";
  const json::value* headers = operation.if_contains("headers");
  if (!headers || !headers->is_array()) return out;
  for (const json::value& line : headers->get_array())
    out += "header          " + shown(line.at(0).as_string().c_str()) + ": " +
           shown(line.at(1).as_string().c_str()) + "\n";
  if (cell(operation, "body_kept") == "no")
    return out + "body            not kept (larger than max_response_body)\n";
  const std::string body = admin::from_base64(cell(operation, "body_base64")).value_or("");
  if (body.empty()) return out;
  if (!printable(body))
    return out + "body            " + std::to_string(body.size()) +
           " bytes that are no text (--format json)\n";
  return out + "\n" + body + (body.ends_with('\n') ? "" : "\n");
}

std::string settled_text(const json::object& operation) {
  const std::string state = cell(operation, "state");
  if (state == "released") return cell(operation, "id") + ": released; the next request with this key runs\n";
  if (state == "completed")
    return cell(operation, "id") + ": completed with " + cell(operation, "status") +
           "; retries get this answer\n";
  return cell(operation, "id") + ": " + state + "\n";
}

std::string swept_text(const json::object& swept) {
  if (cell(swept, "clock") == "jumped")
    return "nothing swept: the wall clock has jumped; when it is right now, --trust-clock says so\n";
  return cell(swept, "expired") + " expired, " + cell(swept, "removed") + " removed\n";
}

}  // namespace stet::app
