#pragma once
// A small GET of the gateway's own: the auth subrequest and the reconcile URL.

#include <optional>
#include <string>

#include "gateway/station.hpp"
#include "http/message.hpp"

namespace stet::gateway {

struct Subanswer {
  int status = 0;
  http::Fields fields;
  std::string body;
};

struct Subrequest {
  const config::UpstreamUrl& url;
  std::string_view head;           // serialised; its method is GET
  std::uint64_t most = 1 << 20;    // bytes of a body that is read at the most
  std::chrono::milliseconds timeout = std::chrono::seconds(5);
};
// A head for it: the URL's path may carry a query; `fields` without Host.
std::string get_head(const config::UpstreamUrl&, std::span<const Header> fields);
// Nothing: no complete and valid answer came in time. Asking has no effect, so nothing depends on how far it got.
Task<std::optional<Subanswer>> ask(Station&, const SnapshotPtr&, Subrequest);

}  // namespace stet::gateway
