#include "streams.hpp"

namespace stet::wire {

namespace {

// What has arrived so far of a stream that is cut.
class Arriving {
 public:
  Arriving(std::string_view bytes, const Cuts& cuts) : bytes_(bytes), cuts_(cuts), end_(first()) {}
  std::string_view from(std::size_t consumed) const { return bytes_.substr(consumed, end_ - consumed); }
  bool read_more() {
    if (end_ == bytes_.size()) return false;
    end_ = next_ < cuts_.size() ? cuts_[next_++] : bytes_.size();
    return true;
  }

 private:
  std::size_t first() { return cuts_.empty() ? bytes_.size() : cuts_[next_++]; }
  std::string_view bytes_;
  const Cuts& cuts_;
  std::size_t next_ = 0;
  std::size_t end_;
};

}  // namespace

Cuts cut_everywhere(std::string_view bytes) {
  Cuts cuts;
  for (std::size_t i = 1; i < bytes.size(); ++i) cuts.push_back(i);
  return cuts;
}

ClientStream read_client_stream(std::string_view bytes, http::Trailers trailers, const Cuts& cuts,
                                const http::HeadLimits& limits) {
  Arriving arriving(bytes, cuts);
  ClientStream stream;
  const auto refuse = [&](const http::WireError& error) {
    stream.error = error;
    stream.then = ClientStream::Then::refused;
    return stream;
  };
  while (true) {
    http::HeadFinder finder(http::MessageKind::request, limits);
    std::size_t size = 0;
    while (size == 0) {
      const auto found = finder.find(arriving.from(stream.consumed));
      if (!found) return refuse(found.error());
      size = *found;
      if (size == 0 && !arriving.read_more()) {
        const bool between = stream.consumed == bytes.size() && !stream.requests.empty();
        stream.then = between ? ClientStream::Then::end : ClientStream::Then::more;
        return stream;
      }
    }
    auto head = http::parse_request_head(arriving.from(stream.consumed).substr(0, size), limits);
    if (!head) return refuse(head.error());
    stream.consumed += size;
    ReadRequest request{std::move(*head), {}};
    http::BodyDecoder body(request.head, trailers);
    while (!body.done()) {
      const auto consumed = body.decode(arriving.from(stream.consumed), request.body);
      if (!consumed) return refuse(consumed.error());
      stream.consumed += *consumed;
      if (*consumed == 0 && !arriving.read_more()) return stream;
    }
    stream.requests.push_back(std::move(request));
  }
}

UpstreamStream read_upstream_stream(std::string_view bytes, std::string_view method, const Cuts& cuts) {
  using Stage = http::ResponseReader::Stage;
  Arriving arriving(bytes, cuts);
  http::ResponseReader reader(method, {}, http::Switching::refuse);
  UpstreamStream stream;
  while (true) {
    const auto progress = reader.read(arriving.from(stream.consumed));
    if (!progress) {
      stream.error = progress.error();
      return stream;
    }
    stream.consumed += progress->consumed;
    stream.body += progress->data;
    if (progress->stage == Stage::interim) ++stream.interims;
    if (progress->stage == Stage::head) {
      stream.status = reader.head().status;
      stream.persistence = reader.head().persistence;
    }
    if (progress->stage == Stage::done) return stream;
    if (progress->stage != Stage::more || arriving.read_more()) continue;
    const auto end = reader.end_of_stream();
    if (!end) stream.error = end.error();
    return stream;
  }
}

}  // namespace stet::wire
