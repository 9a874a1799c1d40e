#include "gateway/subrequest.hpp"

#include "gateway/forwarding.hpp"
#include "http/response_reader.hpp"

namespace stet::gateway {
namespace {

using Stage = http::ResponseReader::Stage;

}  // namespace

std::string get_head(const config::UpstreamUrl& url, std::span<const Header> fields) {
  std::string head = "GET " + (url.path.empty() ? std::string("/") : url.path) + " HTTP/1.1\r\n";
  head += "Host: " + host_of(url) + "\r\n";
  for (const Header& line : fields) head.append(line.name).append(": ").append(line.value).append("\r\n");
  return head += "\r\n";
}

Task<std::optional<Subanswer>> ask(Station& station, const SnapshotPtr& snapshot, Subrequest request) {
  UpstreamLinkPtr link = station.upstreams.take_idle(request.url, UpstreamPool::Use::unkeyed);
  if (!link) {
    auto fresh = co_await station.upstreams.connect(request.url, UpstreamPool::Use::unkeyed, snapshot->tls());
    if (!fresh) co_return std::nullopt;
    link = std::move(*fresh);
  }
  link->link.due_in(request.timeout);
  if (co_await link->link.write(Gather(request.head)) != Link::Sent::all) co_return std::nullopt;

  http::ResponseReader reader("GET", http::HeadLimits{}, http::Switching::refuse);
  Subanswer answer;
  http::Persistence persistence = http::Persistence::keep;
  for (;;) {
    const auto progress = reader.read(link->in.data());
    if (!progress) co_return std::nullopt;
    if (progress->stage == Stage::body) answer.body.append(progress->data);
    link->in.consume(progress->consumed);
    if (answer.body.size() > request.most) co_return std::nullopt;
    if (progress->stage == Stage::done) break;
    if (progress->stage != Stage::more) continue;
    const Link::Got got = co_await link->link.read(link->in, 1024);
    if (got == Link::Got::lost) co_return std::nullopt;
    if (got == Link::Got::end) {
      if (!reader.end_of_stream()) co_return std::nullopt;
      persistence = http::Persistence::close;
      break;
    }
  }
  http::ResponseHead answered = reader.take_head();
  if (answered.persistence == http::Persistence::keep && persistence == http::Persistence::keep) {
    station.upstreams.give_back(request.url, std::move(link), answered.fields.first("Keep-Alive"));
  }
  answer.status = answered.status;
  answer.fields = std::move(answered.fields);
  co_return answer;
}

}  // namespace stet::gateway
