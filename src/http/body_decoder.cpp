#include "http/body_decoder.hpp"

#include <algorithm>
#include <limits>

#include "http/chars.hpp"
#include "http/field_lines.hpp"

namespace stet::http {

namespace {

constexpr std::size_t kMaxSizeDigits = 16;  // 64 bits; zeros in front count, so that a size line stays short
constexpr std::size_t kMaxTrailerBytes = 8 << 10;  // all trailer lines: they are thrown away anyway

// Fields that would change the framing, the routing or the meaning of the request that they follow
// (RFC 9110 section 6.5.1). They would be dropped; that somebody sends them is reason enough to refuse.
bool is_forbidden_in_trailers(std::string_view name) {
  constexpr std::string_view forbidden[] = {
      "Authorization", "Connection",      "Content-Encoding", "Content-Length",
      "Content-Range", "Content-Type",    "Cookie",           "Expect",
      "Host",          "Keep-Alive",      "Set-Cookie",       "TE",
      "Trailer",       "Idempotency-Key", "Upgrade",          "Transfer-Encoding"};
  return std::ranges::any_of(forbidden, [&](std::string_view other) { return iequals(name, other); });
}

}  // namespace

BodyDecoder::BodyDecoder(BodyFraming framing, std::uint64_t content_length, Trailers trailers)
    : framing_(framing), trailers_(trailers) {
  switch (framing) {
    case BodyFraming::none:
      state_ = State::done;
      break;
    case BodyFraming::sized:
      left_ = content_length;
      if (left_ == 0) state_ = State::done;
      break;
    case BodyFraming::chunked:
      state_ = State::size_first;
      break;
    case BodyFraming::until_close:
      left_ = std::numeric_limits<std::uint64_t>::max();
      break;
  }
}

Expected<BodyDecoder::Piece, WireError> BodyDecoder::next(std::string_view bytes) {
  if (state_ == State::failed) return tl::unexpected(error_);
  if (state_ == State::done || bytes.empty()) return Piece{};
  if (framing_ == BodyFraming::chunked) return next_of_chunked(bytes);
  const std::size_t size = static_cast<std::size_t>(std::min<std::uint64_t>(bytes.size(), left_));
  if (framing_ == BodyFraming::sized) left_ -= size;
  if (left_ == 0) state_ = State::done;
  received_ += size;
  return Piece{size, bytes.substr(0, size)};
}

Expected<BodyDecoder::Piece, WireError> BodyDecoder::next_of_chunked(std::string_view bytes) {
  std::size_t i = 0;
  while (i < bytes.size() && state_ != State::data && state_ != State::done) {
    if (!step(bytes[i])) return tl::unexpected(error_);
    ++i;
  }
  if (state_ != State::data) return Piece{i, {}};
  const std::size_t size = static_cast<std::size_t>(std::min<std::uint64_t>(bytes.size() - i, left_));
  left_ -= size;
  received_ += size;
  if (left_ == 0) state_ = State::data_cr;
  return Piece{i + size, bytes.substr(i, size)};
}

bool BodyDecoder::step(char c) {
  switch (state_) {
    case State::size_first:
    case State::size_digits:
      if (chars::is(c, chars::kHex)) {
        if (digits_ == kMaxSizeDigits)
          return fail(WireErrorKind::malformed, "a chunk size has too many digits");
        ++digits_;
        left_ = left_ << 4 | chars::hex_value(c);
        state_ = State::size_digits;
        return true;
      }
      if (state_ == State::size_first) return fail(WireErrorKind::malformed, "a chunk has no size");
      if (c == ';') return fail(WireErrorKind::unsupported, "a chunk has an extension");
      if (c != '\r') return fail(WireErrorKind::malformed, "a chunk size ends in neither CRLF nor a digit");
      state_ = State::size_lf;
      return true;
    case State::size_lf:
      if (c != '\n') return fail(WireErrorKind::malformed, "a CR stands without its LF after a chunk size");
      return end_of_size_line();
    case State::data_cr:
      if (c != '\r') return fail(WireErrorKind::malformed, "a chunk is longer than its size says");
      state_ = State::data_lf;
      return true;
    case State::data_lf:
      if (c != '\n') return fail(WireErrorKind::malformed, "a CR stands without its LF after a chunk");
      state_ = State::size_first;
      return true;
    case State::trailer_start:
      if (c == '\r') {
        state_ = State::last_lf;
        return true;
      }
      if (trailers_ == Trailers::refuse)
        return fail(WireErrorKind::unsupported, "trailers in a keyed request");
      state_ = State::trailer_line;
      [[fallthrough]];
    case State::trailer_line:
      if (++trailer_bytes_ > kMaxTrailerBytes)
        return fail(WireErrorKind::too_large, "the trailers are too large");
      line_ += c;
      if (c == '\r') state_ = State::trailer_lf;
      if (c == '\n') return fail(WireErrorKind::malformed, "a trailer line ends in a bare LF");
      return true;
    case State::trailer_lf:
      line_ += c;
      if (c != '\n') return fail(WireErrorKind::malformed, "a CR stands without its LF in a trailer");
      return end_of_trailer_line();
    case State::last_lf:
      if (c != '\n') return fail(WireErrorKind::malformed, "a CR stands without its LF after the last chunk");
      state_ = State::done;
      return true;
    case State::data:
    case State::done:
    case State::failed:
      break;
  }
  return fail(WireErrorKind::malformed, "a chunked body went on after its end");
}

bool BodyDecoder::end_of_size_line() {
  if (left_ > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max())) {
    return fail(WireErrorKind::malformed, "a chunk size has more than 63 bits");
  }
  digits_ = 0;
  state_ = left_ == 0 ? State::trailer_start : State::data;
  return true;
}

bool BodyDecoder::end_of_trailer_line() {
  const auto line = parse_field_line(line_, MessageKind::response);
  if (!line) return fail(line.error().kind, line.error().detail);
  if (is_forbidden_in_trailers(line->name)) {
    return fail(WireErrorKind::malformed, "a trailer holds a field that belongs into the head");
  }
  line_.clear();
  state_ = State::trailer_start;
  return true;
}

bool BodyDecoder::fail(WireErrorKind kind, std::string_view detail) {
  error_ = WireError{kind, detail};
  state_ = State::failed;
  return false;
}

Expected<std::size_t, WireError> BodyDecoder::decode(std::string_view bytes, std::string& out) {
  std::size_t consumed = 0;
  while (true) {
    const auto piece = next(bytes.substr(consumed));
    if (!piece) return tl::unexpected(piece.error());
    if (piece->consumed == 0) return consumed;
    out.append(piece->data);
    consumed += piece->consumed;
  }
}

Expected<void, WireError> BodyDecoder::end_of_stream() {
  if (state_ == State::failed) return tl::unexpected(error_);
  if (framing_ == BodyFraming::until_close) state_ = State::done;
  if (state_ == State::done) return {};
  fail(WireErrorKind::truncated, "the stream ended before the body did");
  return tl::unexpected(error_);
}

}  // namespace stet::http
