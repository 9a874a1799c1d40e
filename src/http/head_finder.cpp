#include <cstring>

#include "http/chars.hpp"
#include "http/field_lines.hpp"
#include "http/head_parser.hpp"

namespace stet::http {

// The verdict must not depend on how the bytes were cut. So every check on an unfinished line is one that its
// end would fail as well, and at a line's end lengths are looked at before line endings.
Expected<std::size_t, WireError> HeadFinder::find(std::string_view bytes) {
  constexpr std::string_view long_start = "the start line is too long";
  constexpr std::string_view large_head = "the header fields are too large";
  if (scanned_ == 0 && !bytes.empty()) {
    const char first = bytes.front();
    if (kind_ == MessageKind::response ? first != 'H' : !chars::is(first, chars::kToken) && first != '\r') {
      return malformed("the first byte begins no HTTP/1.1 message");
    }
  }
  while (scanned_ < bytes.size()) {
    const void* found = std::memchr(bytes.data() + scanned_, '\n', bytes.size() - scanned_);
    if (found == nullptr) break;
    const auto lf = static_cast<std::size_t>(static_cast<const char*>(found) - bytes.data());
    if (fields_begin_ == 0 ? lf - line_begin_ > limits_.start_line + 1
                           : lf + 1 - fields_begin_ > limits_.headers + 2) {
      return too_large(fields_begin_ == 0 ? long_start : large_head);
    }
    if (lf == line_begin_ || bytes[lf - 1] != '\r') return malformed("a line ends in a bare LF");
    const bool empty = lf == line_begin_ + 1;
    if (empty && fields_begin_ != 0) return lf + 1;
    if (empty) {
      if (kind_ == MessageKind::response || line_begin_ != 0)
        return malformed("an empty line before the start line");
    } else if (fields_begin_ == 0) {
      fields_begin_ = lf + 1;
    } else if (lf + 1 - fields_begin_ > limits_.headers) {
      return too_large(large_head);
    }
    line_begin_ = scanned_ = lf + 1;
  }
  scanned_ = bytes.size();
  if (fields_begin_ == 0 && scanned_ - line_begin_ > limits_.start_line + 1) return too_large(long_start);
  if (fields_begin_ != 0 && scanned_ - fields_begin_ > limits_.headers + 2) return too_large(large_head);
  return 0;
}

}  // namespace stet::http
