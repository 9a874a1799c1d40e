#pragma once
// Prometheus' text exposition format 0.0.4, in a string. One family at a time: begin(), then its samples.

#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>

#include "admin/instruments.hpp"

namespace stet::admin {

struct Label {
  std::string_view name;
  std::string_view value;
};
using Labels = std::initializer_list<Label>;

class Exposition {
 public:
  enum class Type : std::uint8_t { counter, gauge, histogram };
  void begin(std::string_view name, Type, std::string_view help);
  void sample(std::uint64_t value, Labels = {});
  void sample(std::int64_t value, Labels = {});
  void sample(double value, Labels = {});
  // `per_unit`: how many of the histogram's units make one of the name's (a million for µs and seconds).
  template <std::size_t N>
  void histogram(const BasicHistogram<N>& histogram, std::uint64_t per_unit, Labels labels = {}) {
    std::uint64_t cumulative = 0;
    for (std::size_t i = 0; i < N; ++i) {
      cumulative += histogram.in_cell(i);
      bucket(decimal(histogram.bounds()[i], per_unit), cumulative, labels);
    }
    cumulative += histogram.in_cell(N);
    bucket("+Inf", cumulative, labels);
    totals(decimal(histogram.sum(), per_unit), cumulative, labels);
  }
  std::string take() { return std::move(text_); }

 private:
  static std::string decimal(std::uint64_t value, std::uint64_t per_unit);
  void bucket(std::string_view bound, std::uint64_t cumulative, Labels);
  void totals(std::string_view sum, std::uint64_t count, Labels);
  void line(std::string_view suffix, Labels, std::string_view bound, std::string_view value);
  std::string text_;
  std::string_view name_;
};

}  // namespace stet::admin
