#include "demo/fault.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <utility>

#include "demo/demo_api.hpp"

namespace stet::demo {
namespace {

template <class Number>
std::optional<Number> whole_number(std::string_view text) {
  Number n{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), n);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return n;
}

bool read_duration(std::string_view text, std::chrono::milliseconds& out) {
  constexpr std::uint32_t kLongestSeconds = 3600;
  std::uint32_t unit = 0;
  if (text.ends_with("ms")) {
    unit = 1;
    text.remove_suffix(2);
  } else if (text.ends_with("s")) {
    unit = 1000;
    text.remove_suffix(1);
  }
  const auto n = whole_number<std::uint32_t>(text);
  if (unit == 0 || !n || std::uint64_t{*n} * unit > std::uint64_t{kLongestSeconds} * 1000) return false;
  out = std::chrono::milliseconds(std::uint64_t{*n} * unit);
  return true;
}

bool read_size(std::string_view text, std::uint64_t& out) {
  constexpr std::uint64_t kLargest = std::uint64_t{1} << 30;
  std::uint64_t unit = 1;
  for (const auto& [suffix, factor] : {std::pair{std::string_view("KiB"), std::uint64_t{1} << 10},
                                       {std::string_view("MiB"), std::uint64_t{1} << 20}}) {
    if (!text.ends_with(suffix)) continue;
    text.remove_suffix(suffix.size());
    unit = factor;
    break;
  }
  const auto n = whole_number<std::uint64_t>(text);
  if (!n || *n > kLargest / unit) return false;
  out = *n * unit;
  return true;
}

bool read_status(std::string_view text, std::optional<int>& out) {
  const auto n = whole_number<int>(text);
  if (!n || *n < 200 || *n > 599) return false;
  out = *n;
  return true;
}

template <class Enum>
bool flag(std::string_view value, Enum& out, Enum is) {
  out = is;
  return value.empty();
}

struct Word {
  std::string_view name;
  std::string_view takes;
  bool (*read)(Faults&, std::string_view value);
  std::string_view help;
};

constexpr std::array kWords{
    Word{"delay", "2s", [](Faults& f, std::string_view v) { return read_duration(v, f.delay); },
         "waits before the charge is made"},
    Word{"answer-delay", "2s", [](Faults& f, std::string_view v) { return read_duration(v, f.answer_delay); },
         "makes the charge, then waits before it answers"},
    Word{"cut", "", [](Faults& f, std::string_view v) { return flag(v, f.cut, Cut::before_effect); },
         "cuts the connection; no charge"},
    Word{"lose-answer", "", [](Faults& f, std::string_view v) { return flag(v, f.cut, Cut::lost_answer); },
         "makes the charge, then cuts the connection without an answer"},
    Word{"cut-answer", "", [](Faults& f, std::string_view v) { return flag(v, f.cut, Cut::mid_answer); },
         "makes the charge, then cuts the connection in the middle of the answer"},
    Word{"refuse", "503", [](Faults& f, std::string_view v) { return read_status(v, f.refuse); },
         "answers with this status and Stet-Not-Executed: 1; no charge"},
    Word{"fail", "500", [](Faults& f, std::string_view v) { return read_status(v, f.fail); },
         "answers with this status; no charge, but the answer does not say so"},
    Word{"fail-after", "500", [](Faults& f, std::string_view v) { return read_status(v, f.fail_after); },
         "makes the charge and answers with this status all the same"},
    Word{"big", "2MiB", [](Faults& f, std::string_view v) { return read_size(v, f.padding); },
         "makes the answer so much larger"},
    Word{"crash", "", [](Faults& f, std::string_view v) { return flag(v, f.crash, Crash::before_effect); },
         "ends the whole process at once; no charge"},
    Word{"crash-after", "",
         [](Faults& f, std::string_view v) { return flag(v, f.crash, Crash::after_effect); },
         "makes the charge, then ends the whole process"},
    Word{"once", "", [](Faults& f, std::string_view v) { return flag(v, f.once, true); },
         "with any of these: only the first time for this Idempotency-Key"},
};

std::string_view trimmed(std::string_view text) {
  const auto first = text.find_first_not_of(" \t");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

enum class Strangers : std::uint8_t { ignored, refused };

std::optional<std::string> read_words(Faults& faults, std::string_view text, char separator,
                                      Strangers strangers) {
  while (!text.empty()) {
    const auto end = std::min(text.find(separator), text.size());
    const auto word = trimmed(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
    if (word.empty()) continue;
    const auto equals = word.find('=');
    const auto name = word.substr(0, equals);
    const auto value = equals == std::string_view::npos ? std::string_view{} : word.substr(equals + 1);
    const Word* known = nullptr;
    for (const auto& candidate : kWords)
      if (candidate.name == name) known = &candidate;
    if (known == nullptr) {
      if (strangers == Strangers::refused) return "no such fault: " + std::string(name);
    } else if (!known->read(faults, value)) {
      std::string like(name);
      if (!known->takes.empty()) like.append("=").append(known->takes);
      return "a fault is written like " + like + ", not " + std::string(word);
    }
  }
  return std::nullopt;
}

}  // namespace

Expected<Faults, std::string> read_faults(std::string_view query, std::string_view header) {
  Faults faults;
  if (auto wrong = read_words(faults, query, '&', Strangers::ignored)) return unexpected(std::move(*wrong));
  if (auto wrong = read_words(faults, header, ',', Strangers::refused)) return unexpected(std::move(*wrong));
  return faults;
}

std::string fault_help() {
  std::string out =
      "A request asks for faults: X-Demo-Fault: delay=2s, lose-answer, or in its query "
      "?delay=2s&lose-answer\n";
  for (const auto& word : kWords) {
    std::string left(word.name);
    if (!word.takes.empty()) left.append("=").append(word.takes);
    left.resize(std::max<std::size_t>(left.size(), 18), ' ');
    out.append("  ").append(left).append(" ").append(word.help).append("\n");
  }
  return out;
}

}  // namespace stet::demo
