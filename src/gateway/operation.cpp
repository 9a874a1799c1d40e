#include "gateway/operation.hpp"

#include <exception>

#include "gateway/ask_upstream.hpp"
#include "gateway/forwarding.hpp"
#include "gateway/spawn.hpp"

namespace stet::gateway {
namespace {

Intent intent_of(const KeyedRequest& request) {
  return {request.scope.value, request.key.value, request.fingerprint, request.received->head.method,
          std::string(request.received->head.path())};
}

Policy policy_of(const KeyedRequest& request) {
  Policy policy = request.received->route->route.policy;
  policy.terms.scope_rule = request.scope.rule;
  return policy;
}

}  // namespace

Operation::Operation(Station& station, KeyedRequest request)
    : station_(station), request_(std::move(request)), exchange_(intent_of(request_), policy_of(request_)) {
  station_.worker.add_operation(*this);
  station_.shared.operations.fetch_add(1, std::memory_order_relaxed);
}

Operation::~Operation() {
  station_.worker.remove_operation(*this);
  station_.shared.operations.fetch_sub(1, std::memory_order_relaxed);
}

void Operation::start() {
  self_ = shared_from_this();
  feed(event::Start{});
}

void Operation::caller_left() {
  feed(event::CallerLeft{});
}

void Operation::feed(Event first) {
  events_.push_back(std::move(first));
  if (feeding_ == Feeding::yes) return;
  const auto self = shared_from_this();
  feeding_ = Feeding::yes;
  for (std::size_t i = 0; i < events_.size(); ++i) {
    const Event event = std::move(events_[i]);
    Step step = exchange_.step(event, std::chrono::steady_clock::now());
    wake_at_ = step.wake_at;
    for (Action& action : step.actions) {
      std::visit([this](auto& a) { perform(a); }, action);
    }
  }
  events_.clear();
  feeding_ = Feeding::no;
  if (exchange_.finished()) finish();
  set_due();
  if (reply_ && !reply_gate_.is_open()) reply_gate_.open();
}

void Operation::finish() {
  if (std::exchange(life_, Life::finished) == Life::finished) return;
  wake_at_.reset();
  pause_ends_.reset();
  running_.release();
  say_late_end();
  stop_polling(still_in_progress() ? RunningOperations::Polled::left : RunningOperations::Polled::seen);
  waiting_.release();  // counted for as long as its place is taken
  if (registered_ == Registered::yes) station_.shared.running.end(here(), exchange_.last_word());
  self_.reset();
}

// What the caller was told says nothing new to the others who wait for another gateway.
bool Operation::still_in_progress() const {
  const auto* shown = reply_ ? std::get_if<Shown>(&*reply_) : nullptr;
  return shown != nullptr && shown->outcome == Outcome::in_progress;
}

// The caller had an answer before this; for operators, what it came to.
void Operation::say_late_end() {
  if (late_ == Late::no || !exchange_.last_word()) return;
  const std::string id = exchange_.id().text();
  station_.shared.log.event(admin::Level::info, "late-answer",
                            "an operation ended after its caller was answered",
                            {{"operation", id}, {"outcome", name(exchange_.last_word()->outcome)}});
}

void Operation::set_due() {
  due_ = wake_at_.value_or(kNever);
  if (pause_ends_) due_ = std::min(due_, *pause_ends_);
}

void Operation::on_due(MonoTime now) {
  const auto self = shared_from_this();
  if (pause_ends_ && *pause_ends_ <= now) {
    pause_ends_.reset();
    feed(event::OwnerSays{owner::NotHere{}});
  }
  if (wake_at_ && *wake_at_ <= now) {
    wake_at_.reset();
    feed(event::Woken{});
  }
  set_due();
}

// ---- the store ----

void Operation::perform(action::Execute& action) {
  sent_to_store_ = std::chrono::steady_clock::now();
  // The letter takes the callback's share of the operation along: whatever is destroyed here is destroyed by
  // its worker.
  station_.shared.store.submit(
      std::move(action.command), [self = shared_from_this()](Store::Outcome outcome) mutable {
        Worker& worker = self->station_.worker;
        if (worker.here()) {
          self->stored(std::move(outcome));
          return;
        }
        // A letter is copied about as a std::function: what it carries stays where it is.
        worker.post([self = std::move(self), carried = std::make_shared<Store::Outcome>(std::move(outcome))] {
          self->stored(std::move(*carried));
        });
      });
}

void Operation::stored(Store::Outcome outcome) {
  facts_.in_store += std::chrono::steady_clock::now() - sent_to_store_;
  if (auto* failed = std::get_if<Store::Failed>(&outcome)) {
    facts_.why = std::move(failed->what);
    feed(event::StoreFailed{failed->kind});
    return;
  }
  feed(event::Stored{std::move(std::get<Result>(outcome)), station_.shared.running.runs(exchange_.id())});
}

void Operation::perform(action::Find& action) {
  station_.shared.store.find(action.id, [self = shared_from_this()](auto found) mutable {
    Worker& worker = self->station_.worker;
    worker.post([self = std::move(self), found = std::move(found)] {
      if (found) {
        self->feed(event::Found{*found});
      } else {
        self->feed(event::StoreFailed{found.error().kind});
      }
    });
  });
}

void Operation::perform(action::Refingerprint& action) {
  const identify::Subject subject{head().method, head().target, head().fields, request_.body};
  feed(event::Refingerprinted{
      identify::remake_fingerprint(route().route.fingerprint, action.recipe, subject)});
}

// ---- the upstream ----

void Operation::perform(action::Forward& action) {
  station_.shared.running.begin(exchange_.id());
  registered_ = Registered::yes;
  stop_polling(RunningOperations::Polled::seen);  // who waits here waits for us now
  waiting_.release();
  running_ = admin::Held(station_.shared.metrics.process.in_flight);
  facts_.attempt = action.token.attempt;
  const config::UpstreamUrl& upstream = station_.next_upstream(*request_.received->snapshot);
  attempt_ = std::make_shared<UpstreamAttempt>(
      station_.upstreams,
      UpstreamAttempt::Order{upstream, route().route, head().method, onward_head(upstream, action.token),
                             request_.body, request_.received->snapshot->tls(), action.send_before});
  spawn(station_.worker, forward(attempt_));
}

Task<void> Operation::forward(std::shared_ptr<UpstreamAttempt> attempt) {
  const auto self = shared_from_this();
  UpstreamOutcome outcome;
  try {
    outcome = co_await attempt->run();
  } catch (const std::exception& broken) {
    outcome = upstream::Lost{broken.what()};
  }
  if (attempt != attempt_) co_return;  // StopListening
  if (const auto duration = attempt->duration()) route().metrics.upstream_duration.observe(*duration);
  if (const auto* answered = std::get_if<upstream::Answered>(&outcome)) {
    request_.share.add_answer(answered->answer.body.size());
  } else if (const auto* lost = std::get_if<upstream::Lost>(&outcome)) {
    facts_.why = lost->why;
  } else if (const auto* not_sent = std::get_if<upstream::NotSent>(&outcome)) {
    facts_.why = not_sent->why;
  }
  feed(event::Upstream{std::move(outcome)});
}

std::string Operation::onward_head(const config::UpstreamUrl& upstream, const Token& token) const {
  std::vector<Header> add;
  add.reserve(5);
  if (!request_.key.spelling.empty()) {
    add.push_back({route().route.key_headers.front(), request_.key.spelling});
  }
  add.push_back({"Stet-Operation", exchange_.id().text()});
  add.push_back({"Stet-Attempt", std::to_string(token.attempt)});
  if (request_.received->snapshot->tokens() == Snapshot::Tokens::sent)
    add.push_back({"Stet-Token", token.text()});
  add.push_back({"Accept-Encoding", "identity"});
  const bool bodiless = head().framing == http::BodyFraming::none;
  std::string text;
  text.reserve(1024);
  append_onward_head(
      text, head(),
      {.config = request_.received->snapshot->config(),
       .upstream = upstream,
       .client_address = request_.client_address,
       .body = bodiless ? http::OutgoingBody::none() : http::OutgoingBody::sized(request_.body.size()),
       .drop = route().not_passed_on,
       .add = add});
  return text;
}

void Operation::perform(action::StopListening&) {
  if (const auto attempt = std::move(attempt_)) attempt->abort();
  attempt_.reset();
}

void Operation::perform(action::Ask& action) {
  spawn(station_.worker, ask(action.token));
}

Task<void> Operation::ask(Token token) {
  const auto self = shared_from_this();
  AskVerdict verdict =
      co_await ask_upstream(station_, request_.received->snapshot, route().route, std::move(token));
  feed(event::Asked{std::move(verdict)});
}

// ---- another owner ----

void Operation::perform(action::AwaitOwner& action) {
  const auto tell = [self = shared_from_this()](RunningOperations::News news) mutable {
    Worker& worker = self->station_.worker;
    worker.post([self = std::move(self), news = std::move(news)] { self->told(news); });
  };
  using As = RunningOperations::As;
  const auto waiting =
      station_.shared.running.wait(here(), tell, polls_ == Polls::yes ? As::poller : As::waiter);
  if (std::holds_alternative<RunningOperations::TooMany>(waiting)) {
    feed(event::OwnerSays{owner::TooManyWaiters{}});
    return;
  }
  waiting_ = admin::Held(station_.shared.metrics.process.waiters);
  if (const auto* ticket = std::get_if<RunningOperations::Ticket>(&waiting)) {
    polls_ = Polls::no;
    ticket_ = *ticket;
  } else {
    polls_ = Polls::yes;
    pause_ends_ = std::chrono::steady_clock::now() + action.pause;
  }
}

void Operation::told(const RunningOperations::News& news) {
  ticket_.reset();
  waiting_.release();
  if (news.part == RunningOperations::Part::poll) polls_ = Polls::yes;
  feed(event::OwnerSays{news.news});
  if (life_ == Life::finished)
    stop_polling(RunningOperations::Polled::left);  // the part has found nobody here any more
}

void Operation::stop_polling(RunningOperations::Polled how) {
  if (std::exchange(polls_, Polls::no) == Polls::yes)
    station_.shared.running.stop_polling(exchange_.id(), how);
}

void Operation::perform(action::StopWaiting&) {
  pause_ends_.reset();
  if (ticket_) station_.shared.running.leave(exchange_.id(), *ticket_);
  ticket_.reset();
  stop_polling(RunningOperations::Polled::left);
  waiting_.release();
}

// ---- the caller ----

void Operation::perform(action::ProxyUnprotected&) {
  reply_ = Unprotected{};
}

void Operation::perform(action::Reply& action) {
  reply_ = std::move(action.shown);
  if (life_ == Life::running && registered_ == Registered::yes && !exchange_.finished()) {
    running_ = admin::Held(station_.shared.metrics.process.detached);
    late_ = Late::yes;
  }
}

}  // namespace stet::gateway
