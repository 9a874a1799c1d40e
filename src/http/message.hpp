#pragma once
// HTTP/1.1 messages as data (RFC 9110, RFC 9112). Parsing is in head_parser.hpp and body_decoder.hpp, writing
// in serialize.hpp.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "stet/record.hpp"

namespace stet::http {

bool iequals(std::string_view, std::string_view);                   // ASCII only (RFC 9110 section 5.1)
bool istarts_with(std::string_view text, std::string_view prefix);  // the same

// Field lines in the order and spelling in which they came.
class Fields {
 public:
  Fields() = default;
  explicit Fields(Headers lines) : lines_(std::move(lines)) {}

  void add(std::string name, std::string value) { lines_.push_back({std::move(name), std::move(value)}); }
  std::size_t count(std::string_view name) const;
  std::optional<std::string_view> first(std::string_view name) const;
  std::vector<std::string_view> all(std::string_view name) const;
  const Headers& lines() const { return lines_; }
  Headers& lines() { return lines_; }

 private:
  Headers lines_;
};

enum class BodyFraming : std::uint8_t { none, sized, chunked, until_close };
enum class Persistence : std::uint8_t { keep, close };

struct RequestHead {
  std::string method;
  std::string target;  // origin-form ("/a?b"), or "*" for OPTIONS; an absolute-form has become an origin-form
  int minor = 1;       // HTTP/1.minor
  Fields fields;
  BodyFraming framing = BodyFraming::none;
  std::uint64_t content_length = 0;  // sized
  Persistence persistence = Persistence::keep;
  bool expects_continue = false;
  std::string
      upgrade;  // the value of Upgrade when Connection names it; else empty. Never h2c, which is ignored

  std::string_view path() const;   // the target before '?'
  std::string_view query() const;  // after it; empty when there is none
  std::string_view host() const;   // empty only for HTTP/1.0
};

struct ResponseHead {
  int status = 0;
  std::string reason;
  int minor = 1;
  Fields fields;
  BodyFraming framing = BodyFraming::none;
  std::uint64_t content_length = 0;  // sized; and what Content-Length said in an answer to HEAD
  Persistence persistence = Persistence::keep;
};

}  // namespace stet::http
