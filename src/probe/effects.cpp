#include "probe/effects.hpp"

#include <charconv>
#include <thread>

#include "probe/json.hpp"
#include "probe/meaning.hpp"
#include "probe/process.hpp"

namespace stet::probe {
namespace {

Expected<std::int64_t, std::string> whole_number(std::string_view text) {
  while (!text.empty() && std::string_view(" \t\r\n").find(text.front()) != std::string_view::npos)
    text.remove_prefix(1);
  while (!text.empty() && std::string_view(" \t\r\n").find(text.back()) != std::string_view::npos)
    text.remove_suffix(1);
  std::int64_t value = 0;
  const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || stop != text.data() + text.size()) {
    return tl::unexpected("'" + std::string(text.substr(0, 80)) + "' is not a number");
  }
  return value;
}

class RequestEffects : public Effects {
 public:
  RequestEffects(Request request, CountPlace place)
      : request_(std::move(request)), place_(std::move(place)) {}

  std::string describe() const override { return request_.method + " " + request_.url.text(); }

  Expected<std::int64_t, std::string> count(const Route& route) override {
    const Outcome outcome = exchange(request_, route);
    if (!outcome || !is_success(outcome->status)) {
      return tl::unexpected("effects cannot be counted: " + describe() + " was answered " + brief(outcome));
    }
    if (place_.header) {
      const std::string* value = find_header(outcome->headers, *place_.header);
      if (value == nullptr) return tl::unexpected("effects cannot be counted: no header " + *place_.header);
      return whole_number(*value).map_error(explain);
    }
    if (place_.pointer) return json_count(outcome->body, *place_.pointer).map_error(explain);
    if (const auto number = whole_number(outcome->body)) return *number;
    return json_count(outcome->body, "").map_error([](const std::string&) {
      return std::string(
          "effects cannot be counted: the answer is neither a number nor a list; name the place with "
          "--count");
    });
  }

 private:
  static std::string explain(const std::string& why) { return "effects cannot be counted: " + why; }

  Request request_;
  CountPlace place_;
};

class CommandEffects : public Effects {
 public:
  explicit CommandEffects(std::string command) : command_(std::move(command)) {}

  std::string describe() const override { return command_; }

  Expected<std::int64_t, std::string> count(const Route& route) override {
    const CommandResult result = run_command(command_, route.deadline());
    if (result.end == CommandResult::End::timed_out) {
      return tl::unexpected("effects cannot be counted: '" + command_ + "' did not end in time");
    }
    if (result.exit_code != 0) {
      return tl::unexpected("effects cannot be counted: '" + command_ + "' exited with " +
                            std::to_string(result.exit_code) + ": " + result.output.substr(0, 200));
    }
    return whole_number(result.output).map_error([](const std::string& why) {
      return "effects cannot be counted: " + why;
    });
  }

 private:
  std::string command_;
};

}  // namespace

std::unique_ptr<Effects> effects_of_request(Request request, CountPlace place) {
  return std::make_unique<RequestEffects>(std::move(request), std::move(place));
}

std::unique_ptr<Effects> effects_of_command(std::string command) {
  return std::make_unique<CommandEffects>(std::move(command));
}

Expected<std::int64_t, std::string> settled_count(Effects& effects, const Route& route,
                                                  const Settling& settling, std::int64_t expected) {
  const Deadline begun = Clock::now();
  const auto pause = std::max(settling.settle / 4, std::chrono::milliseconds(5));
  auto last = effects.count(route);
  Deadline since = Clock::now();
  while (last) {
    const Deadline now = Clock::now();
    const bool still = now - since >= settling.settle;
    if (now >= route.end || (still && (*last >= expected || now - begun >= settling.late))) break;
    std::this_thread::sleep_for(pause);
    auto next = effects.count(route);
    if (!next || *next != *last) since = Clock::now();
    last = std::move(next);
  }
  return last;
}

}  // namespace stet::probe
