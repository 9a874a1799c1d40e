#include "http/response_reader.hpp"

#include "http/field_lines.hpp"

namespace stet::http {

ResponseReader::ResponseReader(std::string_view request_method, const HeadLimits& limits, Switching switching)
    : method_(request_method),
      limits_(limits),
      switching_(switching),
      finder_(MessageKind::response, limits),
      body_(BodyFraming::none, 0, Trailers::drop) {}

Expected<ResponseReader::Progress, WireError> ResponseReader::read(std::string_view bytes) {
  if (has_head_) {
    if (head_.status == 101) return Progress{Stage::switched, 0, {}};
    const auto piece = body_.next(bytes);
    if (!piece) return tl::unexpected(piece.error());
    const Stage stage = !piece->data.empty() ? Stage::body : body_.done() ? Stage::done : Stage::more;
    return Progress{stage, piece->consumed, piece->data};
  }
  const auto size = finder_.find(bytes);
  if (!size) return tl::unexpected(size.error());
  if (*size == 0) return Progress{};
  auto head = parse_response_head(bytes.substr(0, *size), limits_, method_);
  if (!head) return tl::unexpected(head.error());
  finder_ = HeadFinder(MessageKind::response, limits_);
  if (head->status == 101 && switching_ == Switching::refuse) {
    return unsupported("101, and nobody asked for another protocol");
  }
  if (head->status >= 200 || head->status == 101) {
    head_ = std::move(*head);
    has_head_ = true;
    body_ = BodyDecoder(head_);
    return Progress{head_.status == 101 ? Stage::switched : Stage::head, *size, {}};
  }
  if (++interims_ > kMaxInterimResponses) return malformed("there are too many interim answers");
  interim_ = std::move(*head);
  return Progress{Stage::interim, *size, {}};
}

Expected<void, WireError> ResponseReader::end_of_stream() {
  if (!has_head_)
    return tl::unexpected(
        WireError{WireErrorKind::truncated, "the stream ended before the answer's head did"});
  return body_.end_of_stream();
}

}  // namespace stet::http
