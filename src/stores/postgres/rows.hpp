#pragma once
// Rows of a binary result, read by the names of their columns.

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "stet/record.hpp"
#include "stores/postgres/query.hpp"

namespace stet::stores::postgres {

// A row that cannot be what Stet has written.
struct BadRow {
  std::string what;
};

class Row {
 public:
  Row(const PGresult* result, int row) : result_(result), row_(row) {}
  // Of a result whose one column is a stet.outcome.
  static Row outcome(const PGresult* result, int row);

  // Each throws BadRow when the column has another size; `opt_…` gives nothing for NULL and for a column that
  // is not there.
  std::optional<std::string_view> opt_bytes(const char* column) const;
  std::optional<std::int64_t> opt_int(const char* column) const;  // int2, int4, int8
  std::optional<std::array<std::uint8_t, 16>> opt_uuid(const char* column) const;
  std::string_view bytes(const char* column) const;  // empty for NULL
  std::int64_t integer(const char* column) const;
  bool boolean(const char* column) const;  // false for NULL

  // What several statements return alike.
  Token token(std::string scope, std::string key) const;
  Terms terms() const;
  Fingerprint fingerprint() const;  // zeros for NULL
  State state() const;
  int status() const;  // of an answer
  Headers headers() const;
  std::optional<WallTime> time_ms(const char* column) const;
  std::optional<milliseconds> span_ms(const char* column) const;  // none: forever
  Record record() const;                                          // of stet.find and stet.list

 private:
  using Fields = std::array<std::optional<std::string_view>, 22>;

  const PGresult* result_;
  int row_;
  std::optional<Fields> outcome_;
};

}  // namespace stet::stores::postgres
