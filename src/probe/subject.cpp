#include "probe/subject.hpp"

#include <algorithm>
#include <map>

#include "probe/curl_line.hpp"
#include "probe/effects_sink.hpp"
#include "probe/interruption.hpp"

namespace stet::probe {
namespace {

constexpr std::chrono::milliseconds kFirstPause{40};
constexpr std::chrono::milliseconds kLongestPause{1'000};
constexpr std::chrono::seconds kUnreachable{10};  // refused so long, a server is not restarting but gone
constexpr std::size_t kShownBody = 200;           // of an answer in the transcript
constexpr std::size_t kShownLines = 12;           // of a transcript: its beginning and its end

}  // namespace

Subject::Subject(const Settings& settings, Effects* effects, ServerControl& server, Deadline end)
    : settings_(settings),
      effects_(effects),
      server_(server),
      route_{settings.tls, settings.request_timeout, end} {}

EffectsSink* Subject::sink() const {
  return dynamic_cast<EffectsSink*>(effects_);
}

void Subject::get_to_know() {
  const auto plain_request = [&](const char* which) {
    const Outcome outcome = send(fresh());
    if (!outcome || !is_success(outcome->status)) {
      throw NoVerdict(std::string(which) + " plain request (" + settings_.request.method + " " +
                      settings_.request.url.text() +
                      ", fresh key) did not succeed: " + brief(outcome, kShownBody));
    }
    usual_time_ = std::max(usual_time_, outcome->took);
    return *outcome;
  };
  const std::int64_t before = effects_ != nullptr ? count(0, Settling{std::chrono::milliseconds(0), {}}) : 0;
  plain_ = plain_request("the first");
  std::int64_t after = before;
  if (effects_ != nullptr) {
    after = count(before + 1, settings_.settling);
    unit_ = after - before;
    if (unit_ == 0) {
      throw NoVerdict(
          "a plain request with a fresh key was answered " + brief(*plain_) + ", but " +
          effects_->describe() + " still counts " + std::to_string(before) +
          ": it does not count what this request does (or the API looks at the parameters instead of the "
          "key: put {{uuid}} in the body to tell)");
    }
  }
  const Response second = plain_request("the second");
  answers_tell_apart_ = !difference(*plain_, second).empty();
  if (effects_ != nullptr) {
    const std::int64_t more = count(after + std::max<std::int64_t>(unit_, 0), settings_.settling) - after;
    if (more != unit_ && more != 0) {
      throw NoVerdict("the count of effects moves on its own: one plain request added " +
                      std::to_string(unit_) + ", the next " + std::to_string(more));
    }
  }
  forget();
}

Request Subject::with_key(Request request, const std::string& key_line) const {
  set_header(request.headers, settings_.key_header, key_line);
  return request;
}

Request Subject::without_key(Request request) const {
  remove_header(request.headers, settings_.key_header);
  return request;
}

Request Subject::fresh() {
  return with_key(minter_.mint(settings_.request), random_uuid());
}

void Subject::require_time() const {
  if (interrupted()) throw NoVerdict("interrupted");
  if (Clock::now() >= route_.end) {
    throw NoVerdict("the overall --timeout of " +
                    std::to_string(std::chrono::ceil<std::chrono::seconds>(settings_.timeout).count()) +
                    " s ended before the checks did");
  }
}

Outcome Subject::send(const Request& request) {
  Outcome outcome = exchange(request, route_);
  require_time();
  record(request, "", brief(outcome, kShownBody));
  return outcome;
}

Outcome Subject::send_on(Line& line, const Request& request) {
  Outcome outcome = line.exchange(request);
  require_time();
  record(request, "", brief(outcome, kShownBody));
  return outcome;
}

std::vector<Outcome> Subject::send_at_once(const Request& request, int copies) {
  std::vector<Outcome> outcomes = exchange_at_once(request, copies, route_);
  require_time();
  std::map<std::string, int> kinds;
  for (const Outcome& outcome : outcomes) ++kinds[brief(outcome)];
  std::string seen;
  for (const auto& [text, times] : kinds)
    seen += (seen.empty() ? "" : " | ") + std::to_string(times) + " x " + text;
  record(request, std::to_string(outcomes.size()), seen);
  return outcomes;
}

CutExchange Subject::send_cut(const Request& request, Cut cut) {
  CutExchange result = exchange_with_cut(request, route_, cut);
  require_time();
  if (!result.seen.trouble.empty() && result.seen.request_bytes == 0) {
    throw NoVerdict("the API cannot be reached: " + result.seen.trouble);
  }
  std::string how;
  switch (cut.place) {
    case Cut::Place::inside_request:
      how = "cut after " + std::to_string(result.seen.request_bytes) + " bytes of the request";
      break;
    case Cut::Place::hang_up:
      how = "client hung up " + std::to_string(cut.delay.count()) + " ms after the request was delivered";
      break;
    case Cut::Place::answer_dropped:
      how = "whole answer sent by the API, none of it delivered";
      break;
    case Cut::Place::inside_answer:
      how = "cut after " + std::to_string(cut.bytes) + " bytes of the answer";
      break;
    case Cut::Place::nowhere:
      how = "not cut";
      break;
  }
  record(request, "", how);
  return result;
}

Subject::Settled Subject::settle(const Request& request) {
  const Deadline patience = Clock::now() + settings_.patience;
  Deadline reached = Clock::now();
  auto wait = kFirstPause;
  Settled settled{tl::unexpected(Failure{}), Meaning::try_later, 0};
  while (true) {
    settled.outcome = exchange(request, route_);
    require_time();
    ++settled.attempts;
    settled.meaning = settled.outcome ? meaning_of(*settled.outcome) : Meaning::try_later;
    const bool final = settled.meaning != Meaning::try_later && settled.meaning != Meaning::in_progress;
    const bool gone = !settled.outcome && settled.outcome.error().kind == Trouble::unreachable;
    if (!gone) reached = Clock::now();
    if (final || Clock::now() + wait > patience || Clock::now() - reached > kUnreachable) break;
    probe::pause(wait);
    wait = std::min(wait * 2, kLongestPause);
  }
  if (!settled.outcome && settled.outcome.error().kind == Trouble::unreachable) {
    throw NoVerdict("the API can no longer be reached: " + settled.outcome.error().detail);
  }
  const std::string times =
      settled.attempts == 1 ? "" : " (attempt " + std::to_string(settled.attempts) + ")";
  record(request, "", brief(settled.outcome, kShownBody) + times);
  return settled;
}

std::int64_t Subject::count(std::int64_t expected_at_least, Settling settling) {
  const auto number = settled_count(*effects_, route_, settling, expected_at_least);
  require_time();
  if (!number) throw NoVerdict(number.error());
  return *number;
}

Subject::Mark Subject::mark() {
  if (effects_ == nullptr) return {};
  return {count(0, Settling{std::chrono::milliseconds(0), {}})};
}

std::optional<std::int64_t> Subject::grown(Mark mark, std::int64_t expected) {
  if (effects_ == nullptr) return std::nullopt;
  // A count that falls with each operation (a stock) is waited for by the settling alone.
  const std::int64_t goal = unit_ > 0 ? mark.count + expected * unit_ : mark.count;
  const std::int64_t difference = count(goal, settings_.settling) - mark.count;
  return difference % unit_ == 0 ? difference / unit_ : difference;
}

void Subject::record(const Request& request, const std::string& how, const std::string& seen) {
  const std::string line = curl_line(request);
  if (how.empty()) {
    transcript_.push_back(line + "  # " + seen);
  } else {
    transcript_.push_back("for i in $(seq " + how + "); do " + line +
                          " & done; wait  # at the same moment: " + seen);
  }
}

std::vector<std::string> Subject::transcript() const {
  if (transcript_.size() <= kShownLines) return transcript_;
  const auto half = static_cast<std::ptrdiff_t>(kShownLines / 2);
  std::vector<std::string> lines(transcript_.begin(), transcript_.begin() + half);
  lines.push_back("# … " + std::to_string(transcript_.size() - kShownLines) + " more …");
  lines.insert(lines.end(), transcript_.end() - half, transcript_.end());
  return lines;
}

std::string effects_text(const std::optional<std::int64_t>& grown) {
  if (!grown) return "";
  return "effects " + std::string(*grown < 0 ? "" : "+") + std::to_string(*grown);
}

}  // namespace stet::probe
