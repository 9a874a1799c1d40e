#include "demo/charge.hpp"

#include <gtest/gtest.h>

namespace stet::demo {
namespace {

TEST(DemoCharge, is_read_from_json) {
  const auto order =
      read_order(R"({"amount":4900,"currency":"eur","description":"a \"book\"","more":[1,2]})");
  ASSERT_TRUE(order) << order.error().detail;
  EXPECT_EQ(order->amount, 4900);
  EXPECT_EQ(order->currency, "eur");
  EXPECT_EQ(order->description, "a \"book\"");
}

TEST(DemoCharge, is_in_euros_unless_it_says_otherwise) {
  const auto order = read_order(R"({"amount":4900})");
  ASSERT_TRUE(order) << order.error().detail;
  EXPECT_EQ(order->currency, "eur");
}

TEST(DemoCharge, tells_a_body_that_is_no_json_object_from_one_that_is_no_charge) {
  for (const auto* body : {"", "{", "[1]", "4900", "{\"amount\":1}x"}) {
    const auto order = read_order(body);
    ASSERT_FALSE(order) << body;
    EXPECT_EQ(order.error().status, 400) << body;
  }
  for (const auto* body : {"{}", R"({"amount":0,"currency":"eur"})", R"({"amount":-5,"currency":"eur"})",
                           R"({"amount":"5","currency":"eur"})", R"({"amount":1.5,"currency":"eur"})",
                           R"({"amount":100000000,"currency":"eur"})", R"({"amount":5,"currency":null})",
                           R"({"amount":5,"currency":"EUR"})", R"({"amount":5,"currency":"euro"})",
                           R"({"amount":5,"currency":"eur","description":7})"}) {
    const auto order = read_order(body);
    ASSERT_FALSE(order) << body;
    EXPECT_EQ(order.error().status, 422) << body;
    EXPECT_FALSE(order.error().detail.empty());
  }
}

TEST(DemoCharge, is_written_with_what_its_request_said_about_itself) {
  Charge charge;
  charge.number = 17;
  charge.order = {4900, "eur", "two\nlines"};
  charge.provenance = {"k\"1", std::nullopt, "2"};
  charge.response_id = "r1";
  charge.created_at = "2026-01-01T00:00:00.000Z";
  EXPECT_EQ(charge_json(charge, 0),
            R"({"id":"ch_17","object":"charge","amount":4900,"currency":"eur","description":"two\nlines",)"
            R"("status":"succeeded","created_at":"2026-01-01T00:00:00.000Z","idempotency_key":"k\"1",)"
            R"("operation":null,"attempt":"2","response_id":"r1"})");
  EXPECT_GT(charge_json(charge, 5000).size(), 5000u);
}

TEST(DemoCharge, ids_are_read_strictly) {
  EXPECT_EQ(read_charge_id("ch_17"), 17);
  for (const auto* bad : {"17", "ch_", "ch_-1", "ch_0", "ch_1x", "ch_99999999999999999999"})
    EXPECT_FALSE(read_charge_id(bad)) << bad;
}

}  // namespace
}  // namespace stet::demo
