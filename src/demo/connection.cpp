#include "demo/connection.hpp"

#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <string>

#include "http/body_decoder.hpp"
#include "http/head_parser.hpp"
#include "http/serialize.hpp"

namespace stet::demo {
namespace {

constexpr std::uint64_t kLargestBody = 1 << 20;

// A socket with a time limit ends a call with EINTR when the process was stopped and goes on, though nothing has come.
template <class Call>
ssize_t unless_interrupted(Call call) {
  ssize_t done = -1;
  do {
    done = call();
  } while (done < 0 && errno == EINTR);
  return done;
}

// What was read and belongs to nothing yet, in front of a socket.
class Input {
 public:
  explicit Input(int socket) : socket_(socket) {}
  std::string_view bytes() const { return std::string_view(buffer_).substr(begin_); }
  void drop(std::size_t count) { begin_ += count; }
  bool more() {  // false: the end, a reset or a peer that is too slow
    buffer_.erase(0, begin_);
    begin_ = 0;
    std::array<char, 16 << 10> piece;
    const auto got = unless_interrupted([&] { return recv(socket_, piece.data(), piece.size(), 0); });
    if (got <= 0) return false;
    buffer_.append(piece.data(), static_cast<std::size_t>(got));
    return true;
  }

 private:
  int socket_;
  std::string buffer_;
  std::size_t begin_ = 0;
};

bool send_all(int socket, std::string_view bytes) {
  while (!bytes.empty()) {
    const auto sent = unless_interrupted([&] { return send(socket, bytes.data(), bytes.size(), MSG_NOSIGNAL); });
    if (sent <= 0) return false;
    bytes.remove_prefix(static_cast<std::size_t>(sent));
  }
  return true;
}

// Closing then sends a reset, whatever was still to be sent.
void close_with_reset(int socket) {
  const linger at_once{1, 0};
  setsockopt(socket, SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
}

// Reads what still comes, for a moment: a close with unread input would reset the connection and could take
// the answer with it (RFC 9112 section 9.6).
void linger_until_read(int socket, Input& input) {
  shutdown(socket, SHUT_WR);
  const timeval brief{1, 0};
  setsockopt(socket, SOL_SOCKET, SO_RCVTIMEO, &brief, sizeof brief);
  for (int pieces = 0; pieces < 256 && input.more(); ++pieces) input.drop(input.bytes().size());
}

struct Written {
  std::string bytes;
  std::size_t half = 0;  // where an answer that is cut in the middle ends
};

Written write_reply(const Reaction& reaction, std::string_view method, int minor,
                    http::Persistence persistence) {
  http::Reply reply;
  reply.status = reaction.status;
  reply.more = reaction.fields;
  reply.body = http::OutgoingBody::sized(reaction.body.size());
  if (reaction.status == 204 || reaction.status == 304) reply.body = http::OutgoingBody::none();
  reply.persistence = persistence;
  reply.client_minor = minor;
  reply.now = std::chrono::floor<milliseconds>(std::chrono::system_clock::now());
  Written written;
  http::append_response_head(written.bytes, reply);
  written.half = written.bytes.size();
  if (method == "HEAD" || reply.body.framing == http::BodyFraming::none) return written;
  written.half += reaction.body.size() / 2;
  written.bytes += reaction.body;
  return written;
}

void refuse(int socket, Input& input, int status, std::string_view detail) {
  Reaction reaction;
  reaction.status = status;
  reaction.fields.push_back({"Content-Type", "application/json"});
  reaction.body = error_json(status, detail);
  if (send_all(socket, write_reply(reaction, "", 1, http::Persistence::close).bytes))
    linger_until_read(socket, input);
}

// False: the connection is over.
bool serve_one(int socket, Input& input, Api& api) {
  const http::HeadLimits limits;
  http::HeadFinder finder(http::MessageKind::request, limits);
  std::size_t head_size = 0;
  while (head_size == 0) {
    const auto found = finder.find(input.bytes());
    if (!found) return refuse(socket, input, 400, found.error().detail), false;
    head_size = *found;
    if (head_size == 0 && !input.more()) return false;
  }
  const auto head = http::parse_request_head(input.bytes().substr(0, head_size), limits);
  if (!head) return refuse(socket, input, 400, head.error().detail), false;
  input.drop(head_size);

  if (head->expects_continue && !send_all(socket, http::kContinue)) return false;
  http::BodyDecoder decoder(*head, http::Trailers::drop);
  std::string body;
  while (true) {
    const auto consumed = decoder.decode(input.bytes(), body);
    if (!consumed) return refuse(socket, input, 400, consumed.error().detail), false;
    input.drop(*consumed);
    if (body.size() > kLargestBody)
      return refuse(socket, input, 413, "The body is larger than 1 MiB."), false;
    if (decoder.done()) break;
    if (!input.more()) return false;
  }

  const auto reaction = api.react(*head, body);
  if (reaction.cut == Cut::before_effect || reaction.cut == Cut::lost_answer)
    return close_with_reset(socket), false;
  const auto written = write_reply(reaction, head->method, head->minor, head->persistence);
  if (reaction.cut == Cut::mid_answer) {
    send_all(socket, std::string_view(written.bytes).substr(0, written.half));
    return false;
  }
  return send_all(socket, written.bytes) && head->persistence == http::Persistence::keep;
}

}  // namespace

void serve_connection(int socket, Api& api) {
  Input input(socket);
  try {
    while (serve_one(socket, input, api)) {
    }
  } catch (const StoreError& error) {
    refuse(socket, input, 500, error.what());
  }
}

}  // namespace stet::demo
