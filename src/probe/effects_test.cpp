#include "probe/effects.hpp"

#include <gtest/gtest.h>

#include "probe/effects_sink.hpp"
#include "probe/process.hpp"
#include "probe/testing.hpp"

namespace stet::probe {
namespace {

Route route() {
  return Route{{}, std::chrono::seconds(2), Deadline::max()};
}

TEST(Effects, of_a_command_are_the_number_it_prints) {
  EXPECT_EQ(effects_of_command("echo ' 17 '")->count(route()).value(), 17);
  EXPECT_NE(effects_of_command("echo many")->count(route()).error().find("'many' is not a number"),
            std::string::npos);
  EXPECT_NE(effects_of_command("echo no database; exit 4")
                ->count(route())
                .error()
                .find("exited with 4: no database"),
            std::string::npos);
  EXPECT_NE(effects_of_command("echo '17x'")->count(route()).error().find("not a number"), std::string::npos);
}

TEST(Effects, of_a_command_that_hangs_end_at_the_time_limit) {
  Route impatient = route();
  impatient.request_timeout = std::chrono::milliseconds(100);
  const auto begun = Clock::now();
  const auto count = effects_of_command("sleep 30 & sleep 30")->count(impatient);
  EXPECT_NE(count.error().find("did not end in time"), std::string::npos);
  EXPECT_LT(Clock::now() - begun, std::chrono::seconds(20));
}

TEST(Effects, of_a_request_say_why_they_cannot_be_counted) {
  const testing::ToyApi api(testing::Flaw::none);
  Request request = api.settings().request;
  request.method = "GET";
  EXPECT_EQ(effects_of_request(request, {})->count(route()).value(), 0);
  EXPECT_NE(effects_of_request(request, {"/data", std::nullopt})->count(route()).error().find("/data"),
            std::string::npos);
  EXPECT_NE(effects_of_request(request, {std::nullopt, "X-Total"})->count(route()).error().find("X-Total"),
            std::string::npos);
  EXPECT_EQ(effects_of_request(request, {std::nullopt, "Content-Length"})->count(route()).value(), 1);
}

TEST(EffectsSink, counts_calls_but_not_while_it_is_out_and_not_a_key_twice) {
  EffectsSink sink({"127.0.0.1", 0});
  Request call;
  call.url = {Scheme::http, "127.0.0.1", sink.endpoint().port, "/v1/charges"};
  call.body = "{}";
  EXPECT_EQ(exchange(call, route())->status, 200);
  const Route kept_route = route();
  Line line(kept_route);  // one kept connection for two calls
  EXPECT_EQ(line.exchange(call)->status, 200);
  EXPECT_EQ(line.exchange(call)->status, 200);
  EXPECT_EQ(sink.count(route()).value(), 3);
  sink.become(EffectsSink::Health::out);
  EXPECT_EQ(exchange(call, route())->status, 503);
  EXPECT_EQ(sink.turned_away(), 1);
  sink.become(EffectsSink::Health::well);
  call.headers = {{"Idempotency-Key", "k"}};
  EXPECT_EQ(exchange(call, route())->status, 200);
  EXPECT_EQ(exchange(call, route())->status, 200);
  EXPECT_EQ(sink.count(route()).value(), 4);
}

TEST(SettledCount, waits_for_effects_that_come_late) {
  class Late : public Effects {
   public:
    Expected<std::int64_t, std::string> count(const Route&) override {
      return Clock::now() - begun_ > std::chrono::milliseconds(120) ? 2 : 0;
    }
    std::string describe() const override { return "late"; }

   private:
    Deadline begun_ = Clock::now();
  };
  class Never : public Effects {
   public:
    Expected<std::int64_t, std::string> count(const Route&) override { return 0; }
    std::string describe() const override { return "never"; }
  };
  Late late;
  const Settling settling{std::chrono::milliseconds(20), std::chrono::milliseconds(1'000)};
  EXPECT_EQ(settled_count(late, route(), settling, 1).value(), 2);
  Never never;
  EXPECT_EQ(settled_count(never, route(), {std::chrono::milliseconds(10), std::chrono::milliseconds(40)}, 1)
                .value(),
            0);
}

}  // namespace
}  // namespace stet::probe
