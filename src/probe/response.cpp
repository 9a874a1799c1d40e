#include "probe/response.hpp"

#include <algorithm>
#include <charconv>

namespace stet::probe {
namespace {

std::string_view trim(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t')) text.remove_suffix(1);
  return text;
}

std::optional<std::uint64_t> number(std::string_view text, int base) {
  std::uint64_t value = 0;
  const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), value, base);
  if (error != std::errc() || stop != text.data() + text.size()) return std::nullopt;
  return value;
}

bool names_token(std::string_view list, std::string_view token) {
  while (!list.empty()) {
    const std::size_t comma = list.find(',');
    if (same_name(trim(list.substr(0, comma)), token)) return true;
    if (comma == std::string_view::npos) break;
    list.remove_prefix(comma + 1);
  }
  return false;
}

}  // namespace

ResponseReader::Progress ResponseReader::feed(std::string_view bytes) {
  started_ = started_ || !bytes.empty();
  buffer_ += bytes;
  return advance();
}

ResponseReader::Progress ResponseReader::end() {
  reuse_ = Reuse::close;
  if (stage_ == Stage::until_close) stage_ = Stage::done;
  return stage_ == Stage::done ? Progress::whole : Progress::malformed;
}

std::optional<std::string> ResponseReader::take_line() {
  const std::size_t end = buffer_.find('\n');
  if (end == std::string::npos) return std::nullopt;
  std::string line = buffer_.substr(0, end);
  if (line.ends_with('\r')) line.pop_back();
  buffer_.erase(0, end + 1);
  return line;
}

ResponseReader::Progress ResponseReader::advance() {
  while (true) {
    switch (stage_) {
      case Stage::head: {
        const std::size_t crlf = buffer_.find("\r\n\r\n");
        const std::size_t lf = buffer_.find("\n\n");
        if (crlf == std::string::npos && lf == std::string::npos) {
          return buffer_.size() > 256 * 1024 ? Progress::malformed : Progress::more;
        }
        if (const Progress head = read_head(); head != Progress::more) return head;
        break;
      }
      case Stage::sized:
      case Stage::chunk_data: {
        const std::size_t take = static_cast<std::size_t>(std::min<std::uint64_t>(left_, buffer_.size()));
        response_.body.append(buffer_, 0, take);
        buffer_.erase(0, take);
        left_ -= take;
        if (left_ != 0) return Progress::more;
        if (stage_ == Stage::sized) {
          stage_ = Stage::done;
          break;
        }
        if (!take_line()) return Progress::more;  // the line end after the chunk
        stage_ = Stage::chunk_size;
        break;
      }
      case Stage::chunk_size:
        if (const Progress size = read_chunk_size(); size != Progress::whole) return size;
        break;
      case Stage::trailers: {
        const auto line = take_line();
        if (!line) return Progress::more;
        if (line->empty()) stage_ = Stage::done;
        break;
      }
      case Stage::until_close:
        response_.body += buffer_;
        buffer_.clear();
        return Progress::more;
      case Stage::done:
        return Progress::whole;
    }
  }
}

// `more`: the head is read and the stage has moved on.
ResponseReader::Progress ResponseReader::read_head() {
  response_ = Response{};
  const auto status_line = take_line();
  if (!status_line->starts_with("HTTP/1.")) return Progress::malformed;
  const std::size_t space = status_line->find(' ');
  if (space == std::string::npos) return Progress::malformed;
  const auto status = number(std::string_view(*status_line).substr(space + 1, 3), 10);
  if (!status || *status < 100) return Progress::malformed;
  response_.status = static_cast<int>(*status);
  if (status_line->starts_with("HTTP/1.0")) reuse_ = Reuse::close;
  for (auto line = take_line(); line && !line->empty(); line = take_line()) {
    const std::size_t colon = line->find(':');
    if (colon == std::string::npos) continue;
    response_.headers.push_back({std::string(trim(std::string_view(*line).substr(0, colon))),
                                 std::string(trim(std::string_view(*line).substr(colon + 1)))});
  }
  if (response_.status < 200) return Progress::more;  // 1xx: the real answer follows
  if (const std::string* connection = find_header(response_.headers, "Connection")) {
    if (names_token(*connection, "close")) reuse_ = Reuse::close;
  }
  if (to_head_ || response_.status == 204 || response_.status == 304) {
    stage_ = Stage::done;
  } else if (const std::string* coding = find_header(response_.headers, "Transfer-Encoding");
             coding != nullptr && names_token(*coding, "chunked")) {
    stage_ = Stage::chunk_size;
  } else if (const std::string* length = find_header(response_.headers, "Content-Length")) {
    const auto size = number(*length, 10);
    if (!size) return Progress::malformed;
    left_ = *size;
    stage_ = Stage::sized;
  } else {
    reuse_ = Reuse::close;
    stage_ = Stage::until_close;
  }
  return Progress::more;
}

// `whole`: a size line was read and the stage has moved on.
ResponseReader::Progress ResponseReader::read_chunk_size() {
  const auto line = take_line();
  if (!line) return Progress::more;
  const auto size = number(trim(std::string_view(*line).substr(0, line->find(';'))), 16);
  if (!size) return Progress::malformed;
  left_ = *size;
  stage_ = left_ == 0 ? Stage::trailers : Stage::chunk_data;
  return Progress::whole;
}

std::string brief(const Outcome& outcome, std::size_t shown) {
  if (!outcome) return "no answer (" + outcome.error().detail + ")";
  std::string text = std::to_string(outcome->status);
  std::string body = outcome->body.substr(0, shown);
  for (char& c : body) {
    if (static_cast<unsigned char>(c) < ' ' || static_cast<unsigned char>(c) >= 0x7f) {
      c = c == '\n' || c == '\r' || c == '\t' ? ' ' : '?';
    }
  }
  if (!body.empty()) text += " " + body + (outcome->body.size() > shown ? "…" : "");
  return text;
}

}  // namespace stet::probe
