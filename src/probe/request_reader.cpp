#include "probe/request_reader.hpp"

#include "probe/response.hpp"

namespace stet::probe {

std::optional<Request> read_request(Wire& wire, std::string& rest, Deadline deadline) {
  std::string bytes = std::move(rest);
  rest.clear();
  std::size_t head_end = std::string::npos;
  while ((head_end = bytes.find("\r\n\r\n")) == std::string::npos) {
    auto more = wire.receive(deadline);
    if (!more || more->empty()) return std::nullopt;
    bytes += *more;
  }
  const std::size_t first_line = bytes.find("\r\n");
  const std::size_t space = bytes.find(' ');
  const std::size_t second = bytes.find(' ', space + 1);
  if (space == std::string::npos || second == std::string::npos || second > first_line) return std::nullopt;
  Request request;
  request.method = bytes.substr(0, space);
  request.url.target = bytes.substr(space + 1, second - space - 1);
  // What follows the request line has the form of an answer: fields, then a body. Read it as one.
  ResponseReader reader("");
  const std::size_t fields = first_line + 2;
  std::string as_answer = "HTTP/1.1 200 \r\n" + bytes.substr(fields, head_end + 2 - fields);
  const bool framed = as_answer.find("\r\nTransfer-Encoding:") != std::string::npos ||
                      as_answer.find("\r\ntransfer-encoding:") != std::string::npos ||
                      as_answer.find("\r\nContent-Length:") != std::string::npos ||
                      as_answer.find("\r\ncontent-length:") != std::string::npos;
  if (!framed) as_answer += "Content-Length: 0\r\n";
  auto progress = reader.feed(as_answer + "\r\n" + bytes.substr(head_end + 4));
  while (progress == ResponseReader::Progress::more) {
    auto more = wire.receive(deadline);
    if (!more || more->empty()) return std::nullopt;
    progress = reader.feed(*more);
  }
  if (progress != ResponseReader::Progress::whole) return std::nullopt;
  rest = reader.rest();
  Response parsed = reader.take();
  request.headers = std::move(parsed.headers);
  request.body = std::move(parsed.body);
  return request;
}

}  // namespace stet::probe
