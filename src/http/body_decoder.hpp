#pragma once
// The one body decoder: sized, chunked or until the end of the stream (RFC 9112 sections 6 and 7). It copies
// nothing unless asked to.
//
//   BodyDecoder body(head, Trailers::refuse);
//   while (!body.done()) {
//     auto piece = body.next(buffer);              // error: refuse and close
//     if (piece->consumed == 0) { read more; continue; }   // at the end of the stream: body.end_of_stream()
//     sink(piece->data);                           // may be empty: a chunk line was consumed
//     buffer.remove_prefix(piece->consumed);
//   }
//   what is left in `buffer` belongs to the next message

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "http/message.hpp"
#include "http/wire_error.hpp"
#include "stet/error.hpp"

namespace stet::http {

// Trailers are validated and dropped, never merged into the head. Keyed requests refuse any.
enum class Trailers : std::uint8_t { drop, refuse };

class BodyDecoder {
 public:
  BodyDecoder(const RequestHead& head, Trailers trailers)
      : BodyDecoder(head.framing, head.content_length, trailers) {}
  explicit BodyDecoder(const ResponseHead& head)
      : BodyDecoder(head.framing, head.content_length, Trailers::drop) {}
  BodyDecoder(BodyFraming, std::uint64_t content_length, Trailers);

  struct Piece {
    std::size_t consumed = 0;  // drop so many bytes from the front; 0: more bytes are needed
    std::string_view data;     // body bytes, a view into the input
  };
  // Takes the next piece off the front of `bytes`. After an error the decoder stays in it.
  Expected<Piece, WireError> next(std::string_view bytes);

  // Appends all that is there to `out`; how much was consumed.
  Expected<std::size_t, WireError> decode(std::string_view bytes, std::string& out);

  // The peer ended the stream cleanly (FIN, and close_notify under TLS): the end of an until_close body, an
  // error for any other that is not done. A reset is never told here; it is always a loss.
  Expected<void, WireError> end_of_stream();

  bool done() const { return state_ == State::done; }
  std::uint64_t received() const { return received_; }  // body bytes handed out so far

 private:
  enum class State : std::uint8_t {
    data,        // of a sized or until_close body, or of a chunk
    size_first,  // a chunk line, no digit yet
    size_digits,
    size_lf,  // its CR has come
    data_cr,  // the CRLF after a chunk's data
    data_lf,
    trailer_start,  // a trailer line or the last CRLF
    trailer_line,
    trailer_lf,  // the CR of a trailer line has come
    last_lf,     // the CR of the last CRLF has come
    done,
    failed,
  };
  Expected<Piece, WireError> next_of_chunked(std::string_view bytes);
  bool step(char c);  // one byte of chunk framing; false: error_ is set
  bool end_of_size_line();
  bool end_of_trailer_line();
  bool fail(WireErrorKind, std::string_view detail);

  BodyFraming framing_;
  Trailers trailers_;
  State state_ = State::data;
  std::uint8_t digits_ = 0;  // of this chunk's size
  std::uint64_t left_ = 0;   // of the sized body, or of this chunk
  std::uint64_t received_ = 0;
  std::size_t trailer_bytes_ = 0;  // of all trailer lines
  std::string line_;               // the trailer line that has not ended yet
  WireError error_{};
};

}  // namespace stet::http
