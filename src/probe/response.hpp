#pragma once
// What came back, read leniently. The gateway's strict parser is the wrong tool here: the probe's question is
// whether an API is safe to retry, and an API that ends its lines with a bare LF or leaves out the reason
// phrase can be. What it cannot understand at all is Trouble::malformed.

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

#include "probe/wire.hpp"
#include "stet/record.hpp"

namespace stet::probe {

struct Response {
  int status = 0;
  Headers headers;
  std::string body;
  std::chrono::milliseconds took{0};
};

using Outcome = Expected<Response, Failure>;

enum class Reuse : std::uint8_t { keep, close };

// Fed with bytes as they come; says when the answer is whole.
class ResponseReader {
 public:
  explicit ResponseReader(std::string_view request_method) : to_head_(request_method == "HEAD") {}

  enum class Progress : std::uint8_t { more, whole, malformed };
  Progress feed(std::string_view bytes);
  Progress end();  // the other side closed: whole for an answer that is delimited by the close

  bool started() const { return started_; }
  Reuse reuse() const { return reuse_; }
  Response take() { return std::move(response_); }
  const std::string& rest() const { return buffer_; }  // what came after it

 private:
  enum class Stage : std::uint8_t { head, sized, chunk_size, chunk_data, trailers, until_close, done };
  Progress advance();
  Progress read_head();
  Progress read_chunk_size();
  std::optional<std::string> take_line();

  bool to_head_;
  bool started_ = false;
  Stage stage_ = Stage::head;
  std::string buffer_;
  std::uint64_t left_ = 0;
  Reuse reuse_ = Reuse::keep;
  Response response_;
};

// One line for people: "201 {"id":7}" or "no answer: connection refused".
std::string brief(const Outcome&, std::size_t shown = 60);

}  // namespace stet::probe
