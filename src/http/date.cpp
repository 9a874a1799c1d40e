#include "http/date.hpp"

#include <chrono>
#include <string_view>

namespace stet::http {

namespace {

constexpr std::string_view kDays[] = {"Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"};
constexpr std::string_view kMonths[] = {"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                        "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};

void append_digits(std::string& out, unsigned value, int width) {
  char digits[8];
  for (int i = width - 1; i >= 0; --i) {
    digits[i] = static_cast<char>('0' + value % 10);
    value /= 10;
  }
  out.append(digits, static_cast<std::size_t>(width));
}

struct Parts {
  std::chrono::year_month_day date;
  std::chrono::weekday day;
  std::chrono::hh_mm_ss<milliseconds> time;
};

Parts parts_of(WallTime at) {
  const auto days = std::chrono::floor<std::chrono::days>(at);
  return {std::chrono::year_month_day(days), std::chrono::weekday(days),
          std::chrono::hh_mm_ss<milliseconds>(at - days)};
}

// Both formats have four digits for the year.
unsigned year_of(const Parts& parts) {
  const int year = static_cast<int>(parts.date.year());
  return static_cast<unsigned>(year < 0 ? 0 : year > 9999 ? 9999 : year);
}

void append_time(std::string& out, const Parts& parts) {
  append_digits(out, static_cast<unsigned>(parts.time.hours().count()), 2);
  out += ':';
  append_digits(out, static_cast<unsigned>(parts.time.minutes().count()), 2);
  out += ':';
  append_digits(out, static_cast<unsigned>(parts.time.seconds().count()), 2);
}

}  // namespace

void append_http_date(std::string& out, WallTime at) {
  const Parts parts = parts_of(at);
  out.append(kDays[parts.day.c_encoding()]).append(", ");
  append_digits(out, static_cast<unsigned>(parts.date.day()), 2);
  out.append(" ").append(kMonths[static_cast<unsigned>(parts.date.month()) - 1]).append(" ");
  append_digits(out, year_of(parts), 4);
  out += ' ';
  append_time(out, parts);
  out.append(" GMT");
}

std::string http_date(WallTime at) {
  std::string out;
  out.reserve(29);
  append_http_date(out, at);
  return out;
}

std::string rfc3339(WallTime at) {
  const Parts parts = parts_of(at);
  std::string out;
  append_digits(out, year_of(parts), 4);
  out += '-';
  append_digits(out, static_cast<unsigned>(parts.date.month()), 2);
  out += '-';
  append_digits(out, static_cast<unsigned>(parts.date.day()), 2);
  out += 'T';
  append_time(out, parts);
  out += '.';
  append_digits(out, static_cast<unsigned>(parts.time.subseconds().count()), 3);
  out += 'Z';
  return out;
}

}  // namespace stet::http
