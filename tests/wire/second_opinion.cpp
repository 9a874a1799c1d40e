#include "second_opinion.hpp"

#include <algorithm>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/string_body.hpp>
#include <cstdint>
#include <limits>
#include <map>

#include "http/serialize.hpp"
#include "streams.hpp"

namespace stet::wire {

namespace {

namespace beast = boost::beast::http;

template <class Parser>
void lift_limits(Parser& parser) {
  parser.eager(true);
  parser.header_limit(std::numeric_limits<std::uint32_t>::max());
  parser.body_limit(boost::none);
}

// Feeds all bytes; how many were taken, or nothing when they were refused.
template <class Parser>
std::optional<std::size_t> feed(Parser& parser, std::string_view bytes) {
  std::size_t taken = 0;
  while (!parser.is_done() && taken < bytes.size()) {
    boost::beast::error_code error;
    const std::size_t n = parser.put(boost::asio::buffer(bytes.data() + taken, bytes.size() - taken), error);
    taken += n;
    if (error == beast::error::need_more) break;
    if (error) return std::nullopt;
    if (n == 0) break;
  }
  return taken;
}

// Beast keeps lines of one name together, so both sides are ordered by name, and by their order within one.
using Ordered = std::multimap<std::string, std::string>;

void add(Ordered& lines, std::string_view name, std::string_view value) {
  std::string lower(name);
  for (char& c : lower) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c | 0x20) : c;
  lines.emplace(std::move(lower), value);
}

Ordered ours_of(const Headers& headers) {
  Ordered lines;
  for (const Header& line : headers) add(lines, line.name, line.value);
  return lines;
}

template <class Message>
Ordered theirs_of(const Message& message) {
  Ordered lines;
  for (const auto& field : message) add(lines, field.name_string(), field.value());
  return lines;
}

// The target that we make of one in absolute-form.
std::string origin_form(std::string target, std::string_view method) {
  if (target.starts_with('/') || target == "*") return target;
  target.erase(0, target.find("//") + 2);
  target.erase(0, std::min(target.find_first_of("/?"), target.size()));
  if (target.empty() && method == "OPTIONS") return "*";
  return target.starts_with('/') ? target : "/" + target;
}

std::optional<std::string> compare_request(const ReadRequest& ours, std::string_view bytes,
                                           std::size_t size) {
  beast::request_parser<beast::string_body> parser;
  lift_limits(parser);
  const auto taken = feed(parser, bytes);
  if (!taken) return "Beast refuses the request";
  if (!parser.is_done()) return "Beast waits for more";
  if (*taken != size) return "Beast sees another end";
  const auto& theirs = parser.get();
  if (std::string_view(theirs.method_string()) != ours.head.method) return "Beast sees another method";
  const std::string target(theirs.target());
  if (origin_form(target, ours.head.method) != ours.head.target) return "Beast sees another target";
  if (static_cast<int>(theirs.version()) != 10 + ours.head.minor) return "Beast sees another version";
  if (theirs.body() != ours.body) return "Beast sees another body";
  Headers lines = ours.head.fields.lines();
  if (!target.starts_with('/') && theirs.count("Host") == 0 && ours.head.minor == 0 && !lines.empty() &&
      target != "*") {
    lines.pop_back();  // the Host that we took from an absolute-form
  }
  if (ours_of(lines) != theirs_of(theirs)) return "Beast sees other fields";
  return std::nullopt;
}

// What goes upstream of a request, framed as it came.
std::string written(const ReadRequest& request) {
  http::Forwarding forwarding;
  forwarding.target = request.head.target;
  forwarding.fallback_host = "upstream";
  forwarding.client_address = "192.0.2.1";
  forwarding.body = {request.head.framing, request.body.size()};
  std::string wire;
  http::append_request_head(wire, request.head, forwarding);
  if (request.head.framing != http::BodyFraming::chunked) return wire + request.body;
  if (!request.body.empty()) {
    http::append_chunk_head(wire, request.body.size());
    wire.append(request.body).append(http::kChunkEnd);
  }
  return wire.append(http::kLastChunk);
}

// It is one request, the same one, to us and to Beast.
std::optional<std::string> compare_onward(const ReadRequest& request) {
  const std::string wire = written(request);
  http::HeadLimits limits;  // wider: we add lines, some of which repeat Host
  limits.headers *= 4;
  limits.fields += 8;
  const ClientStream again = read_client_stream(wire, http::Trailers::refuse, {}, limits);
  if (again.then != ClientStream::Then::end || again.requests.size() != 1)
    return "What we write is not one request";
  const ReadRequest& onward = again.requests.front();
  if (onward.head.method != request.head.method || onward.head.target != request.head.target ||
      onward.body != request.body) {
    return "What we write is another request";
  }
  const auto difference = compare_request(onward, wire, wire.size());
  return difference ? "Of what we write: " + *difference : difference;
}

}  // namespace

bool beast_accepts_request(std::string_view bytes) {
  beast::request_parser<beast::string_body> parser;
  lift_limits(parser);
  return feed(parser, bytes).has_value() && parser.is_done();
}

std::optional<std::string> disagreement_about_requests(std::string_view bytes) {
  const ClientStream all = read_client_stream(bytes, http::Trailers::refuse, {});
  std::size_t begin = 0;
  for (const ReadRequest& request : all.requests) {
    if (bytes.substr(begin).starts_with("\r\n")) begin += 2;  // Beast skips no empty line
    // Where this request ends by our reading: read it alone.
    const std::string_view rest = bytes.substr(begin);
    http::HeadFinder finder(http::MessageKind::request, {});
    const std::size_t head_size = finder.find(rest).value_or(0);
    http::BodyDecoder decoder(request.head, http::Trailers::refuse);
    std::string body;
    const std::size_t size = head_size + decoder.decode(rest.substr(head_size), body).value_or(0);
    if (auto difference = compare_request(request, rest, size)) return difference;
    if (auto difference = compare_onward(request)) return difference;
    begin += size;
  }
  return std::nullopt;
}

std::optional<std::string> disagreement_about_answer(std::string_view bytes, std::string_view method) {
  const UpstreamStream ours = read_upstream_stream(bytes, method, {});
  if (ours.error) return std::nullopt;
  std::size_t begin = 0;
  for (int i = 0; i <= ours.interims; ++i) {
    beast::response_parser<beast::string_body> parser;
    lift_limits(parser);
    parser.skip(method == "HEAD" && i == ours.interims);
    const auto taken = feed(parser, bytes.substr(begin));
    if (!taken) return "Beast refuses the answer";
    if (!parser.is_done()) {
      boost::beast::error_code error;
      parser.put_eof(error);
      if (error) return "Beast finds the answer cut short";
    }
    begin += *taken;
    if (i < ours.interims) continue;
    if (begin != ours.consumed) return "Beast sees another end";
    if (static_cast<int>(parser.get().result_int()) != ours.status) return "Beast sees another status";
    if (parser.get().body() != ours.body) return "Beast sees another body";
  }
  return std::nullopt;
}

}  // namespace stet::wire
