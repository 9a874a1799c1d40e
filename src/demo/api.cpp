#include "demo/api.hpp"

#include <unistd.h>

#include <csignal>
#include <optional>

#include "demo/charge.hpp"
#include "demo/demo_api.hpp"
#include "http/target.hpp"

namespace stet::demo {
namespace {

constexpr std::int64_t kLongestList = 100'000;

Reaction json_reply(int status, std::string body) {
  Reaction reaction;
  reaction.status = status;
  reaction.fields.push_back({"Content-Type", "application/json"});
  reaction.body = std::move(body);
  return reaction;
}

Reaction error_reply(int status, std::string_view detail) {
  return json_reply(status, error_json(status, detail));
}

Reaction not_allowed(std::string allowed) {
  auto reaction = error_reply(405, "Allowed here: " + allowed + ".");
  reaction.fields.push_back({"Allow", std::move(allowed)});
  return reaction;
}

std::optional<std::string> text_of(std::optional<std::string_view> value) {
  return value ? std::optional(std::string(*value)) : std::nullopt;
}

Provenance provenance_of(const http::RequestHead& head) {
  return {text_of(head.fields.first("Idempotency-Key")), text_of(head.fields.first("Stet-Operation")),
          text_of(head.fields.first("Stet-Attempt"))};
}

// Not an exit: nothing is flushed, no destructor runs, every connection is reset by the kernel.
void crash() {
  kill(getpid(), SIGKILL);
  pause();
}

constexpr std::string_view kIndex =
    "Charges, not idempotent.\n\n"
    "POST /charges {\"amount\":4900,\"currency\":\"eur\"}   makes a charge, every time\n"
    "GET  /charges[?key=K][&limit=N]                   the ledger\n"
    "GET  /charges/ch_1                                one charge\n\n"
    "Faults, in the query of a request (?delay=2s&lose-answer) or in X-Demo-Fault (delay=2s, lose-answer):\n";

}  // namespace

void Stopping::stop() {
  const std::lock_guard lock(mutex_);
  stopped_ = true;
  changed_.notify_all();
}

bool Stopping::stopped() const {
  const std::lock_guard lock(mutex_);
  return stopped_;
}

void Stopping::sleep(std::chrono::milliseconds time) const {
  std::unique_lock lock(mutex_);
  changed_.wait_for(lock, time, [this] { return stopped_; });
}

Reaction Api::react(const http::RequestHead& head, std::string_view body) {
  auto faults = read_faults(head.query(), head.fields.first("X-Demo-Fault").value_or(""));
  if (!faults) return error_reply(400, faults.error());
  if (faults->once) {
    const auto key = head.fields.first("Idempotency-Key");
    if (key && !ledger_.first_fault_for(std::string(*key))) *faults = Faults{};
  }
  return route(head, body, *faults);
}

Reaction Api::route(const http::RequestHead& head, std::string_view body, const Faults& faults) {
  stopping_.sleep(faults.delay);
  if (faults.crash == Crash::before_effect) crash();
  if (faults.cut == Cut::before_effect) {
    Reaction broken;
    broken.cut = Cut::before_effect;
    return broken;
  }
  if (faults.refuse) {
    auto reaction = error_reply(*faults.refuse, "Refused on request; no charge was made.");
    reaction.fields.push_back({"Stet-Not-Executed", "1"});
    return reaction;
  }
  if (faults.fail) return error_reply(*faults.fail, "Failed on request.");

  const auto path = head.path();
  const bool reads = head.method == "GET" || head.method == "HEAD";
  if (path == "/charges") {
    if (head.method == "POST") return create(head, body, faults);
    return reads ? list(head) : not_allowed("GET, HEAD, POST");
  }
  if (path.starts_with("/charges/")) return reads ? show(path.substr(9), faults) : not_allowed("GET, HEAD");
  if (path == "/" && reads) {
    Reaction index;
    index.fields.push_back({"Content-Type", "text/plain; charset=utf-8"});
    index.body = std::string(kIndex) + fault_help();
    return index;
  }
  return error_reply(404, "Nothing here; try /charges.");
}

Reaction Api::create(const http::RequestHead& head, std::string_view body, const Faults& faults) {
  const auto order = read_order(body);
  if (!order) return error_reply(order.error().status, order.error().detail);
  const auto charge = ledger_.add(*order, provenance_of(head));
  if (faults.crash == Crash::after_effect) crash();
  stopping_.sleep(faults.answer_delay);
  auto reaction = faults.fail_after
                      ? error_reply(*faults.fail_after, "Failed on request, after the charge was made.")
                      : json_reply(201, charge_json(charge, faults.padding));
  if (!faults.fail_after) reaction.fields.push_back({"Location", "/charges/" + charge.id()});
  reaction.cut = faults.cut;
  return reaction;
}

Reaction Api::list(const http::RequestHead& head) {
  const auto keys = http::query_values(head.query(), "key");
  const auto limits = http::query_values(head.query(), "limit");
  if (!keys || !limits) return error_reply(400, "The query has a bad escape.");
  const auto key = keys->empty() ? std::nullopt : std::optional(keys->front());
  std::int64_t limit = kLongestList;
  if (!limits->empty()) {
    const auto& text = limits->front();
    if (text.empty() || text.size() > 6 || text.find_first_not_of("0123456789") != std::string::npos)
      return error_reply(400, "limit is a whole number of at most six digits.");
    limit = std::stoll(text);
  }
  return json_reply(200, list_json(ledger_.list(key, limit), ledger_.count(key)));
}

Reaction Api::show(std::string_view id, const Faults& faults) {
  const auto number = read_charge_id(id);
  const auto charge = number ? ledger_.find(*number) : std::nullopt;
  if (!charge) return error_reply(404, "No such charge.");
  return json_reply(200, charge_json(*charge, faults.padding));
}

}  // namespace stet::demo
