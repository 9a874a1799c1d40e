#include "admin/log_line.hpp"

#include <gtest/gtest.h>

namespace stet::admin {
namespace {

using namespace std::chrono_literals;
using config::LogKeys;

constexpr WallTime kNow{std::chrono::seconds(1'767'225'600) + 45ms};

RequestLine charge() {
  RequestLine line;
  line.method = "POST";
  line.path = "/charges";
  line.route = "POST /charges";
  line.status = 201;
  line.outcome = Outcome::completed;
  line.operation = OperationId::of("scope", "order-7");
  line.scope = "5c09e";
  line.key = "order-7";
  line.attempt = 1;
  line.duration = 12'345us;
  line.upstream = 10ms;
  line.store = 1'500us;
  return line;
}

TEST(LogLine, is_one_json_object_with_the_operation_and_its_timings) {
  EXPECT_EQ(
      json_line(charge(), LogKeys::hash, kNow),
      R"({"time":"2026-01-01T00:00:00.045Z","level":"info","event":"request","operation":")" +
          OperationId::of("scope", "order-7").text() + R"(","scope":"5c09e","key_hash":")" +
          key_hash("order-7") +
          R"(","method":"POST","path":"/charges","route":"POST /charges","status":201,"outcome":"completed",)"
          R"("attempt":1,"duration_ms":12.345,"upstream_ms":10.000,"store_ms":1.500})");
}

TEST(LogLine, shows_a_key_only_as_configured) {
  const std::string hashed = json_line(charge(), LogKeys::hash, kNow);
  EXPECT_EQ(hashed.find("order-7"), std::string::npos);
  EXPECT_NE(json_line(charge(), LogKeys::full, kNow).find(R"("key":"order-7")"), std::string::npos);
  const std::string none = json_line(charge(), LogKeys::none, kNow);
  EXPECT_EQ(none.find("order-7"), std::string::npos);
  EXPECT_EQ(none.find(key_hash("order-7")), std::string::npos);
}

TEST(LogLine, hides_a_key_that_is_a_segment_of_the_path) {
  RequestLine line = charge();
  line.method = "PUT";
  line.path = "/orders/order-7/items";
  line.key_segment = 2;
  EXPECT_NE(json_line(line, LogKeys::none, kNow).find(R"("path":"/orders/*/items")"), std::string::npos);
  EXPECT_NE(json_line(line, LogKeys::hash, kNow).find("/orders/" + key_hash("order-7") + "/items"),
            std::string::npos);
  EXPECT_NE(json_line(line, LogKeys::full, kNow).find("/orders/order-7/items"), std::string::npos);
  EXPECT_EQ(text_line(line, LogKeys::hash, kNow).find("order-7"), std::string::npos);
}

TEST(LogLine, never_shows_a_query) {
  RequestLine line = charge();
  line.path = "/charges?token=hunter2";
  EXPECT_EQ(json_line(line, LogKeys::full, kNow).find("hunter2"), std::string::npos);
  EXPECT_EQ(text_line(line, LogKeys::full, kNow).find("hunter2"), std::string::npos);
}

TEST(LogLine, cannot_be_broken_in_two_by_what_a_caller_sends) {
  RequestLine line = charge();
  line.path = "/a\n{\"event\":\"forged\"}\x1b[2J";
  line.why = "x\ny";
  for (const std::string& text :
       {json_line(line, LogKeys::full, kNow), text_line(line, LogKeys::full, kNow)}) {
    EXPECT_EQ(text.find('\n'), std::string::npos);
    EXPECT_EQ(text.find('\x1b'), std::string::npos);
  }
}

TEST(LogLine, cuts_a_very_long_path) {
  RequestLine line = charge();
  const std::string path = "/" + std::string(8000, 'a');
  line.path = path;
  EXPECT_LT(json_line(line, LogKeys::hash, kNow).size(), 1500U);
}

TEST(LogLine, says_a_turn_of_the_process_with_its_fields) {
  EXPECT_EQ(json_event(Level::info, "ready", "Serving.", {{"listen", "127.0.0.1:8080"}, {"pid", 7}}, kNow),
            R"({"time":"2026-01-01T00:00:00.045Z","level":"info","event":"ready","message":"Serving.",)"
            R"("listen":"127.0.0.1:8080","pid":7})");
  EXPECT_EQ(text_event(Level::warning, "store-lost", "No answer.", {{"tries", 2}}, kNow),
            "2026-01-01T00:00:00.045Z warning store-lost: No answer. tries=2");
}

TEST(LogLine, for_people_is_short) {
  EXPECT_EQ(
      text_line(charge(), LogKeys::none, kNow),
      "2026-01-01T00:00:00.045Z POST /charges 201 completed 12.3ms upstream=10.0ms store=1.5ms operation=" +
          OperationId::of("scope", "order-7").text());
}

}  // namespace
}  // namespace stet::admin
