#include "config/units.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>
#include <vector>

namespace stet::config {
namespace {

struct DurationUnit {
  std::string_view name;
  std::int64_t milliseconds;
};
constexpr std::array<DurationUnit, 5> kDurationUnits{
    {{"d", 86'400'000}, {"h", 3'600'000}, {"m", 60'000}, {"s", 1'000}, {"ms", 1}}};
constexpr std::int64_t kLongest = 36'500 * kDurationUnits[0].milliseconds;

struct Spelling {
  std::string_view written, meant;
};
constexpr std::array<Spelling, 13> kDurationSpellings{{{"sec", "s"},
                                                       {"secs", "s"},
                                                       {"second", "s"},
                                                       {"seconds", "s"},
                                                       {"min", "m"},
                                                       {"mins", "m"},
                                                       {"minute", "m"},
                                                       {"minutes", "m"},
                                                       {"hour", "h"},
                                                       {"hours", "h"},
                                                       {"day", "d"},
                                                       {"days", "d"},
                                                       {"msec", "ms"}}};

struct SizeUnit {
  std::string_view name;
  int shift;
};
constexpr std::array<SizeUnit, 3> kSizeUnits{{{"GiB", 30}, {"MiB", 20}, {"KiB", 10}}};
constexpr std::array<Spelling, 12> kSizeSpellings{{{"kb", "KiB"},
                                                   {"k", "KiB"},
                                                   {"kib", "KiB"},
                                                   {"ki", "KiB"},
                                                   {"mb", "MiB"},
                                                   {"m", "MiB"},
                                                   {"mib", "MiB"},
                                                   {"mi", "MiB"},
                                                   {"gb", "GiB"},
                                                   {"g", "GiB"},
                                                   {"gib", "GiB"},
                                                   {"gi", "GiB"}}};

std::string quoted(std::string_view text) {
  return "\"" + std::string(text) + "\"";
}

struct Amount {
  std::string_view digits;
  std::string_view unit;
  std::optional<std::uint64_t> number;
};

Amount split_amount(std::string_view text) {
  const std::size_t digits = std::min(text.find_first_not_of("0123456789"), text.size());
  Amount amount{text.substr(0, digits), text.substr(digits), std::nullopt};
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + digits, number);
  if (digits > 0 && error == std::errc{}) amount.number = number;
  return amount;
}

template <std::size_t N>
std::string_view meant_by(const std::array<Spelling, N>& spellings, std::string_view unit) {
  while (unit.starts_with(' ')) unit.remove_prefix(1);
  const std::string small = lower(unit);
  for (const Spelling& spelling : spellings)
    if (spelling.written == small || spelling.meant == unit || lower(spelling.meant) == small)
      return spelling.meant;
  return {};
}

// How many typing errors lie between two words: a letter too many, missing, wrong, or swapped with its
// neighbour.
std::size_t typos(std::string_view a, std::string_view b) {
  std::vector<std::vector<std::size_t>> table(a.size() + 1, std::vector<std::size_t>(b.size() + 1));
  for (std::size_t i = 0; i <= a.size(); ++i) {
    for (std::size_t j = 0; j <= b.size(); ++j) {
      if (i == 0 || j == 0) {
        table[i][j] = i + j;
        continue;
      }
      const std::size_t replaced = table[i - 1][j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      table[i][j] = std::min({table[i - 1][j] + 1, table[i][j - 1] + 1, replaced});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        table[i][j] = std::min(table[i][j], table[i - 2][j - 2] + 1);
    }
  }
  return table[a.size()][b.size()];
}

}  // namespace

Expected<milliseconds, std::string> parse_duration(std::string_view text, Forever forever) {
  if (text == "forever") {
    if (forever == Forever::allowed) return kForever;
    return unexpected<std::string>("\"forever\" is not possible here; a duration such as \"24h\" was meant");
  }
  const Amount amount = split_amount(text);
  const std::string grammar = "a whole number and one of ms, s, m, h, d";
  if (amount.digits.empty())
    return unexpected<std::string>(quoted(text) + " is no duration: " + grammar +
                                   " was meant, such as \"30s\"");
  for (const DurationUnit& unit : kDurationUnits) {
    if (unit.name != amount.unit) continue;
    if (!amount.number || *amount.number > static_cast<std::uint64_t>(kLongest / unit.milliseconds))
      return unexpected<std::string>(quoted(text) + " is longer than 100 years");
    return milliseconds(static_cast<std::int64_t>(*amount.number) * unit.milliseconds);
  }
  if (amount.unit.empty())
    return unexpected<std::string>(quoted(text) + " has no unit: \"" + std::string(text) + "s\" was meant?");
  if (const std::string_view meant = meant_by(kDurationSpellings, amount.unit); !meant.empty())
    return unexpected<std::string>("the unit " + quoted(amount.unit) + " is not known: \"" +
                                   std::string(amount.digits) + std::string(meant) + "\" was meant");
  return unexpected<std::string>(quoted(text) + " is no duration: " + grammar + " was meant");
}

std::string duration_text(milliseconds duration) {
  if (duration == kForever) return "forever";
  for (const DurationUnit& unit : kDurationUnits)
    if (duration.count() != 0 && duration.count() % unit.milliseconds == 0)
      return std::to_string(duration.count() / unit.milliseconds) + std::string(unit.name);
  return "0s";
}

Expected<std::uint64_t, std::string> parse_size(std::string_view text) {
  const Amount amount = split_amount(text);
  if (amount.digits.empty())
    return unexpected<std::string>(quoted(text) + " is no size: \"10KiB\", \"1MiB\" or \"1GiB\" was meant");
  for (const SizeUnit& unit : kSizeUnits) {
    if (unit.name != amount.unit) continue;
    if (!amount.number || *amount.number > (std::uint64_t{1} << 40) >> unit.shift)
      return unexpected<std::string>(quoted(text) + " is larger than 1024 GiB");
    return *amount.number << unit.shift;
  }
  if (amount.unit.empty() || lower(amount.unit) == "b")
    return unexpected<std::string>(
        "a size in bytes has neither unit nor quotes: " + std::string(amount.digits) + " was meant");
  if (const std::string_view meant = meant_by(kSizeSpellings, amount.unit); !meant.empty())
    return unexpected<std::string>("the unit " + quoted(amount.unit) + " is not known: \"" +
                                   std::string(amount.digits) + std::string(meant) + "\" was meant");
  return unexpected<std::string>(quoted(text) + " is no size: a whole number and KiB, MiB or GiB was meant");
}

std::string size_text(std::uint64_t size) {
  for (const SizeUnit& unit : kSizeUnits)
    if (size != 0 && size % (std::uint64_t{1} << unit.shift) == 0)
      return std::to_string(size >> unit.shift) + std::string(unit.name);
  return std::to_string(size);
}

bool is_token(std::string_view text) {
  constexpr std::string_view kMarks = "!#$%&'*+-.^_`|~";
  return !text.empty() && std::all_of(text.begin(), text.end(), [&](char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
           kMarks.find(c) != kMarks.npos;
  });
}

std::string lower(std::string_view text) {
  std::string result(text);
  for (char& c : result)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return result;
}

std::string pointer_error(std::string_view pointer) {
  if (!pointer.starts_with('/'))
    return "a JSON pointer (RFC 6901) begins with a slash: \"/" + std::string(pointer) + "\" was meant?";
  for (std::size_t i = 0; i < pointer.size(); ++i)
    if (pointer[i] == '~' && (i + 1 == pointer.size() || (pointer[i + 1] != '0' && pointer[i + 1] != '1')))
      return "in a JSON pointer (RFC 6901) \"~\" is written \"~0\" and a slash inside a name \"~1\"";
  return {};
}

std::string_view nearest(std::string_view written, std::span<const std::string_view> known) {
  if (written.size() > 64) return {};
  std::string_view best;
  std::size_t best_distance = std::max<std::size_t>(1, written.size() / 3) + 1;
  for (const std::string_view candidate : known) {
    if (const std::size_t d = typos(written, candidate); d < best_distance) {
      best_distance = d;
      best = candidate;
    }
  }
  return best;
}

std::string alternatives(std::span<const std::string_view> known) {
  std::string text;
  for (std::size_t i = 0; i < known.size(); ++i) {
    if (i > 0) text += i + 1 == known.size() ? " or " : ", ";
    text += quoted(known[i]);
  }
  return text;
}

}  // namespace stet::config
