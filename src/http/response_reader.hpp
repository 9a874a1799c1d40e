#pragma once
// One answer of an upstream from its bytes: interim answers, the head, the body, its end. Pure; the caller
// reads.
//
//   ResponseReader reader(method, limits, Switching::refuse);
//   loop: auto p = reader.read(buffer); drop p->consumed bytes;
//     more      read from the upstream; on a clean end reader.end_of_stream(), on a reset give up
//     interim   reader.interim() holds a 1xx: consume it, or relay it on unkeyed routes
//     head      reader.head() is there; call read again for the body
//     body      p->data is a piece of it
//     done      the answer is whole; bytes left in the buffer mean that the connection must not be used again
//     switched  101, allowed: what follows is not HTTP

#include "http/body_decoder.hpp"
#include "http/head_parser.hpp"

namespace stet::http {

enum class Switching : std::uint8_t { refuse, allow };  // 101 (RFC 9110 section 15.2.2)

inline constexpr int kMaxInterimResponses = 16;

class ResponseReader {
 public:
  ResponseReader(std::string_view request_method, const HeadLimits&, Switching);

  enum class Stage : std::uint8_t { more, interim, head, body, done, switched };
  struct Progress {
    Stage stage = Stage::more;
    std::size_t consumed = 0;  // drop so many bytes from the front, whatever the stage
    std::string_view data;     // body: a view into the input
  };
  Expected<Progress, WireError> read(std::string_view bytes);

  // The stream ended cleanly. An error unless that ends the answer.
  Expected<void, WireError> end_of_stream();

  bool has_head() const { return has_head_; }
  bool done() const { return has_head_ && body_.done(); }
  const ResponseHead& head() const { return head_; }        // the final one, once has_head()
  const ResponseHead& interim() const { return interim_; }  // valid until the next read
  ResponseHead take_head() { return std::move(head_); }

 private:
  std::string method_;
  HeadLimits limits_;
  Switching switching_;
  HeadFinder finder_;
  ResponseHead head_;
  ResponseHead interim_;
  BodyDecoder body_;
  int interims_ = 0;
  bool has_head_ = false;
};

}  // namespace stet::http
