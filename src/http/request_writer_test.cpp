#include <gtest/gtest.h>

#include "http/head_parser.hpp"
#include "http/serialize.hpp"

namespace stet::http {
namespace {

RequestHead parse(std::string_view lines) {
  auto head = parse_request_head(
      "POST /charges?x=1 HTTP/1.1\r\nHost: shop.example:8080\r\n" + std::string(lines) + "\r\n", {});
  EXPECT_TRUE(head.has_value()) << (head ? "" : head.error().detail);
  return head.value_or(RequestHead{});
}

Forwarding plain() {
  Forwarding forwarding;
  forwarding.target = "/charges?x=1";
  forwarding.client_address = "192.0.2.7";
  return forwarding;
}

// What the upstream would read.
RequestHead forwarded(const RequestHead& head, const Forwarding& forwarding) {
  std::string wire;
  append_request_head(wire, head, forwarding);
  HeadLimits limits;
  limits.headers *= 2;
  auto again = parse_request_head(wire, limits);
  EXPECT_TRUE(again.has_value()) << wire;
  return again.value_or(RequestHead{});
}

TEST(RequestWriter, writes_the_whole_head_anew) {
  std::string wire;
  append_request_head(wire, parse("x-Trace:  1 \r\nContent-Length: 7\r\n"), [] {
    Forwarding forwarding = plain();
    forwarding.body = OutgoingBody::sized(7);
    return forwarding;
  }());
  EXPECT_EQ(wire,
            "POST /charges?x=1 HTTP/1.1\r\nHost: shop.example:8080\r\nx-Trace: 1\r\nVia: 1.1 stet\r\n"
            "Forwarded: for=192.0.2.7;proto=http;host=\"shop.example:8080\"\r\nX-Forwarded-For: 192.0.2.7\r\n"
            "X-Forwarded-Proto: http\r\nX-Forwarded-Host: shop.example:8080\r\nContent-Length: 7\r\n\r\n");
}

TEST(RequestWriter, adds_to_the_way_so_far_and_passes_the_scheme_and_host_that_an_ingress_has_seen) {
  const RequestHead again =
      forwarded(parse("Via: 1.1 edge\r\nX-Forwarded-For: 198.51.100.1\r\nX-Forwarded-For: 198.51.100.2\r\n"
                      "Forwarded: for=198.51.100.1;by=\"a\\\"b\"\r\nX-Forwarded-Proto: "
                      "https\r\nX-Forwarded-Host: shop.example\r\n"),
                plain());
  EXPECT_EQ(again.fields.first("Via"), "1.1 edge, 1.1 stet");
  EXPECT_EQ(again.fields.first("X-Forwarded-For"), "198.51.100.1, 198.51.100.2, 192.0.2.7");
  EXPECT_EQ(again.fields.first("Forwarded"),
            "for=198.51.100.1;by=\"a\\\"b\", for=192.0.2.7;proto=http;host=\"shop.example:8080\"");
  EXPECT_EQ(again.fields.first("X-Forwarded-Proto"), "https");
  EXPECT_EQ(again.fields.first("X-Forwarded-Host"), "shop.example");
  for (const char* name : {"Via", "X-Forwarded-For", "Forwarded", "X-Forwarded-Proto", "X-Forwarded-Host"}) {
    EXPECT_EQ(again.fields.count(name), 1U) << name;
  }
}

TEST(RequestWriter, lets_no_unended_quote_of_a_client_swallow_what_the_gateway_says) {
  for (const char* open : {"for=\"", "for=\"\\\"", "for=a;by=\"x\\"}) {
    const RequestHead again =
        forwarded(parse("Forwarded: " + std::string(open) + "\r\nForwarded: for=b\r\n"), plain());
    EXPECT_EQ(again.fields.first("Forwarded"), "for=b, for=192.0.2.7;proto=http;host=\"shop.example:8080\"")
        << open;
  }
}

TEST(RequestWriter, removes_hop_by_hop_fields_and_those_that_Connection_names) {
  const RequestHead again = forwarded(
      parse("Connection: close, X-Private\r\nKeep-Alive: 5\r\nX-Private: 1\r\nTE: trailers\r\nUpgrade: x\r\n"
            "Proxy-Connection: x\r\nProxy-Authorization: x\r\nTrailer: x\r\nHTTP2-Settings: x\r\nX-Public: "
            "1\r\n"),
      plain());
  for (const char* name : {"Connection", "Keep-Alive", "X-Private", "TE", "Upgrade", "Proxy-Connection",
                           "Proxy-Authorization", "Trailer", "HTTP2-Settings"}) {
    EXPECT_EQ(again.fields.count(name), 0U) << name;
  }
  EXPECT_EQ(again.fields.first("X-Public"), "1");
}

TEST(RequestWriter, removes_Expect_and_what_only_the_gateway_says) {
  const RequestHead again = forwarded(
      parse("Expect: 100-continue\r\nContent-Length: 1\r\nStet-Operation: forged\r\nSTET-token: forged\r\n"),
      [] {
        Forwarding forwarding = plain();
        forwarding.body = OutgoingBody::sized(1);
        return forwarding;
      }());
  EXPECT_EQ(again.fields.count("Expect"), 0U);
  EXPECT_EQ(again.fields.count("Stet-Operation"), 0U);
  EXPECT_EQ(again.fields.count("Stet-Token"), 0U);
  EXPECT_EQ(again.content_length, 1U);
}

TEST(RequestWriter, puts_the_key_in_its_one_spelling) {
  const std::vector<std::string> drop = {"Idempotency-Key", "Accept-Encoding"};
  const Headers add = {{"Idempotency-Key", "abc"}, {"Accept-Encoding", "identity"}, {"Stet-Attempt", "1"}};
  Forwarding forwarding = plain();
  forwarding.drop = drop;
  forwarding.add = add;
  const RequestHead again =
      forwarded(parse("idempotency-key: \"abc\"\r\nAccept-Encoding: gzip, br\r\n"), forwarding);
  EXPECT_EQ(again.fields.all("Idempotency-Key"), std::vector<std::string_view>{"abc"});
  EXPECT_EQ(again.fields.all("Accept-Encoding"), std::vector<std::string_view>{"identity"});
  EXPECT_EQ(again.fields.first("Stet-Attempt"), "1");
}

TEST(RequestWriter, adds_itself_at_the_end_of_the_way) {
  Forwarding forwarding = plain();
  forwarding.client_address = "2001:db8::1";
  forwarding.scheme = Scheme::https;
  const RequestHead again = forwarded(
      parse("Via: 1.0 a\r\nVia: 1.1 b\r\nX-Forwarded-For: 198.51.100.1\r\nForwarded: for=198.51.100.1\r\n"),
      forwarding);
  EXPECT_EQ(again.fields.first("Via"), "1.0 a, 1.1 b, 1.1 stet");
  EXPECT_EQ(again.fields.first("X-Forwarded-For"), "198.51.100.1, 2001:db8::1");
  EXPECT_EQ(again.fields.first("Forwarded"),
            "for=198.51.100.1, for=\"[2001:db8::1]\";proto=https;host=\"shop.example:8080\"");
  EXPECT_EQ(again.fields.first("X-Forwarded-Proto"), "https");
}

TEST(RequestWriter, believes_an_ingress_that_ended_TLS) {
  const RequestHead again =
      forwarded(parse("X-Forwarded-Proto: https\r\nX-Forwarded-Host: public.example\r\n"), plain());
  EXPECT_EQ(again.fields.all("X-Forwarded-Proto"), std::vector<std::string_view>{"https"});
  EXPECT_EQ(again.fields.all("X-Forwarded-Host"), std::vector<std::string_view>{"public.example"});
}

// A client must not hide where it came from by calling the field hop-by-hop.
TEST(RequestWriter, lets_Connection_hide_nothing_about_the_way) {
  const RequestHead again = forwarded(
      parse(
          "Connection: X-Forwarded-For, X-Forwarded-Proto, Via, Forwarded\r\nX-Forwarded-For: 203.0.113.9\r\n"
          "X-Forwarded-Proto: https\r\nVia: 1.1 a\r\n"),
      plain());
  EXPECT_EQ(again.fields.first("X-Forwarded-For"), "203.0.113.9, 192.0.2.7");
  EXPECT_EQ(again.fields.first("X-Forwarded-Proto"), "https");
  EXPECT_EQ(again.fields.first("Via"), "1.1 a, 1.1 stet");
}

TEST(RequestWriter, rewrites_Host_when_told_and_has_one_for_HTTP_1_0) {
  Forwarding forwarding = plain();
  forwarding.host = "upstream:9000";
  const RequestHead rewritten = forwarded(parse(""), forwarding);
  EXPECT_EQ(rewritten.host(), "upstream:9000");
  EXPECT_EQ(rewritten.fields.first("X-Forwarded-Host"), "shop.example:8080");

  forwarding = plain();
  forwarding.fallback_host = "upstream:9000";
  const auto old = parse_request_head("GET / HTTP/1.0\r\n\r\n", {});
  const RequestHead again = forwarded(*old, forwarding);
  EXPECT_EQ(again.host(), "upstream:9000");
  EXPECT_EQ(again.fields.first("Via"), "1.0 stet");
  EXPECT_EQ(again.minor, 1);
}

TEST(RequestWriter, says_that_a_POST_has_no_body) {
  EXPECT_EQ(forwarded(parse(""), plain()).framing, BodyFraming::sized);
  RequestHead get = parse("");
  get.method = "GET";
  EXPECT_EQ(forwarded(get, plain()).framing, BodyFraming::none);
}

TEST(RequestWriter, frames_a_body_of_unknown_length_in_chunks) {
  Forwarding forwarding = plain();
  forwarding.body = OutgoingBody::chunked();
  const RequestHead again = forwarded(parse("Transfer-Encoding: chunked\r\n"), forwarding);
  EXPECT_EQ(again.framing, BodyFraming::chunked);
  EXPECT_EQ(again.fields.count("Transfer-Encoding"), 1U);
}

TEST(RequestWriter, passes_an_upgrade_only_when_told) {
  const RequestHead head = [] {
    auto parsed = parse_request_head(
        "GET /ws HTTP/1.1\r\nHost: h\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n", {});
    return *parsed;
  }();
  EXPECT_EQ(forwarded(head, plain()).upgrade, "");
  Forwarding forwarding = plain();
  forwarding.upgrading = Upgrading::pass;
  EXPECT_EQ(forwarded(head, forwarding).upgrade, "websocket");
}

TEST(RequestWriter, lets_no_value_end_its_line) {
  const Headers add = {{"Stet-Note", std::string("a\r\nX-Injected: 1\0", 17)}};
  Forwarding forwarding = plain();
  forwarding.add = add;
  const RequestHead again = forwarded(parse(""), forwarding);
  EXPECT_EQ(again.fields.count("X-Injected"), 0U);
  EXPECT_EQ(again.fields.first("Stet-Note"), "a  X-Injected: 1");
}

}  // namespace
}  // namespace stet::http
