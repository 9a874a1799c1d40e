#include <algorithm>
#include <charconv>

#include "http/hop_by_hop.hpp"
#include "http/serialize.hpp"

namespace stet::http {

namespace {

void append_number(std::string& out, std::uint64_t value) {
  char digits[20];
  const auto end = std::to_chars(digits, digits + sizeof digits, value).ptr;
  out.append(digits, end);
}

// The fields about the way here, which get a part of ours instead of being passed on as they are.
struct Trail {
  std::string via;
  std::string forwarded;
  std::string forwarded_for;
  bool has_proto = false;
  bool has_host = false;
};

void join(std::string& list, std::string_view element) {
  if (element.empty()) return;
  if (!list.empty()) list += ", ";
  list += element;
}

// A quoted string that does not end would swallow the element that follows it, ours (RFC 9110 section 5.6.4).
bool ends_its_quotes(std::string_view value) {
  bool quoted = false;
  for (std::size_t i = 0; i < value.size(); ++i) {
    if (value[i] == '"') quoted = !quoted;
    if (quoted && value[i] == '\\') ++i;
  }
  return !quoted;
}

enum class Fate : std::uint8_t { pass, leave_out };

// Not to be hidden from the upstream by naming them in Connection.
bool tells_the_way(std::string_view name) {
  return istarts_with(name, "X-Forwarded-") || iequals(name, "Forwarded") || iequals(name, "Via");
}

Fate judge(const Header& line, Trail& trail) {
  const std::string_view name = line.name;
  if (is_hop_by_hop(name)) return Fate::leave_out;
  switch (name.size()) {
    case 3:
      if (!iequals(name, "Via")) return Fate::pass;
      join(trail.via, line.value);
      return Fate::leave_out;
    case 4:
      return iequals(name, "Host") ? Fate::leave_out : Fate::pass;
    case 6:
      return iequals(name, "Expect") ? Fate::leave_out : Fate::pass;
    case 9:
      if (!iequals(name, "Forwarded")) break;
      if (ends_its_quotes(line.value)) join(trail.forwarded, line.value);
      return Fate::leave_out;
    case 15:
      if (!iequals(name, "X-Forwarded-For")) break;
      join(trail.forwarded_for, line.value);
      return Fate::leave_out;
    case 16:
      if (iequals(name, "X-Forwarded-Host")) trail.has_host = true;
      break;
    case 17:
      if (iequals(name, "X-Forwarded-Proto")) trail.has_proto = true;
      break;
    default:
      break;
  }
  return istarts_with(name, "Stet-") ? Fate::leave_out : Fate::pass;
}

// RFC 7239 section 6: an IPv6 address in brackets, and that in quotes.
void append_forwarded(std::string& out, const Forwarding& forwarding, std::string_view host) {
  const bool v6 = forwarding.client_address.find(':') != std::string_view::npos;
  out.append("for=").append(v6 ? "\"[" : "").append(forwarding.client_address).append(v6 ? "]\"" : "");
  out.append(";proto=").append(forwarding.scheme == Scheme::https ? "https" : "http");
  if (!host.empty()) out.append(";host=\"").append(host).append("\"");
}

void append_trail(std::string& out, const RequestHead& head, const Forwarding& forwarding, Trail& trail) {
  const std::string_view host = head.host();
  join(trail.via, head.minor == 1 ? "1.1 stet" : "1.0 stet");
  append_line(out, "Via", trail.via);
  if (!trail.forwarded.empty()) trail.forwarded += ", ";
  append_forwarded(trail.forwarded, forwarding, host);
  append_line(out, "Forwarded", trail.forwarded);
  join(trail.forwarded_for, forwarding.client_address);
  append_line(out, "X-Forwarded-For", trail.forwarded_for);
  if (!trail.has_proto)
    append_line(out, "X-Forwarded-Proto", forwarding.scheme == Scheme::https ? "https" : "http");
  if (!trail.has_host && !host.empty()) append_line(out, "X-Forwarded-Host", host);
}

// RFC 9110 section 8.6: a method that anticipates content says that there is none.
bool anticipates_content(std::string_view method) {
  return method == "POST" || method == "PUT" || method == "PATCH";
}

void append_framing(std::string& out, const OutgoingBody& body, std::string_view method) {
  if (body.framing == BodyFraming::chunked) {
    out.append("Transfer-Encoding: chunked\r\n");
  } else if (body.framing == BodyFraming::sized || anticipates_content(method)) {
    out.append("Content-Length: ");
    append_number(out, body.framing == BodyFraming::sized ? body.length : 0);
    out.append("\r\n");
  }
}

}  // namespace

void append_request_head(std::string& out, const RequestHead& head, const Forwarding& forwarding) {
  std::size_t size = 512 + forwarding.target.size();
  for (const Header& line : head.fields.lines()) size += line.name.size() + line.value.size() + 4;
  out.reserve(out.size() + size);

  out.append(head.method).append(" ").append(forwarding.target).append(" HTTP/1.1\r\n");
  std::string_view host = forwarding.host.empty() ? head.host() : forwarding.host;
  if (host.empty()) host = forwarding.fallback_host;
  append_line(out, "Host", host);

  const ConnectionOptions options(head.fields.lines());
  Trail trail;
  for (const Header& line : head.fields.lines()) {
    if (judge(line, trail) == Fate::leave_out) continue;
    if (options.name(line.name) && !tells_the_way(line.name)) continue;
    if (std::ranges::any_of(forwarding.drop,
                            [&](const std::string& name) { return iequals(name, line.name); })) {
      continue;
    }
    append_line(out, line.name, line.value);
  }
  append_trail(out, head, forwarding, trail);
  for (const Header& line : forwarding.add) append_line(out, line.name, line.value);
  append_framing(out, forwarding.body, head.method);
  if (forwarding.upgrading == Upgrading::pass && !head.upgrade.empty()) {
    out.append("Connection: Upgrade\r\n");
    append_line(out, "Upgrade", head.upgrade);
  } else if (forwarding.persistence == Persistence::close) {
    out.append("Connection: close\r\n");
  }
  out.append("\r\n");
}

}  // namespace stet::http
