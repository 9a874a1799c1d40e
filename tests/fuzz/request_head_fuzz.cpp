// What a client sends: the verdict does not depend on how the bytes were cut, what is accepted can be written
// again and read back as the same request, and Beast reads it as the same requests with the same bodies.

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

#include "http/head_parser.hpp"
#include "http/serialize.hpp"
#include "second_opinion.hpp"

namespace {

using namespace stet::http;

void check(bool holds) {
  if (!holds) std::abort();
}

stet::Expected<std::size_t, WireError> find_whole(std::string_view bytes, const HeadLimits& limits) {
  HeadFinder finder(MessageKind::request, limits);
  return finder.find(bytes);
}

stet::Expected<std::size_t, WireError> find_bytewise(std::string_view bytes, const HeadLimits& limits) {
  HeadFinder finder(MessageKind::request, limits);
  for (std::size_t n = 1; n <= bytes.size(); ++n) {
    auto size = finder.find(bytes.substr(0, n));
    if (!size || *size != 0) return size;
  }
  return 0;
}

void check_round_trip(const RequestHead& head, const HeadLimits& limits) {
  std::string written;
  Forwarding forwarding;
  forwarding.target = head.target;
  forwarding.fallback_host = "upstream";
  forwarding.client_address = "192.0.2.1";
  forwarding.body = {head.framing, head.content_length};
  append_request_head(written, head, forwarding);
  HeadLimits wider = limits;  // for what we add
  wider.headers += 4096 + 3 * head.host().size();
  wider.fields += 8;
  HeadFinder finder(MessageKind::request, wider);
  const auto size = finder.find(written);
  check(size && *size == written.size());
  const auto again = parse_request_head(written, wider);
  check(again.has_value());
  check(again->method == head.method && again->target == head.target);
  check(again->content_length == head.content_length);
  check((again->framing == BodyFraming::chunked) == (head.framing == BodyFraming::chunked));
  check(again->fields.count("Host") == 1);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  if (const auto difference = stet::wire::disagreement_about_requests(bytes)) {
    std::fprintf(stderr, "%s\n", difference->c_str());
    std::abort();
  }
  HeadLimits limits;
  limits.start_line = 512;  // small, so that short inputs reach the limits
  limits.headers = 2048;
  limits.fields = 24;
  const auto whole = find_whole(bytes, limits);
  const auto bytewise = find_bytewise(bytes, limits);
  check(whole.has_value() == bytewise.has_value());
  if (!whole) {
    check(whole.error().kind == bytewise.error().kind);
    return 0;
  }
  check(*whole == *bytewise);
  if (*whole == 0) return 0;
  const auto head = parse_request_head(bytes.substr(0, *whole), limits);
  if (head) check_round_trip(*head, limits);
  return 0;
}
