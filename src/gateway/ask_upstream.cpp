#include "gateway/ask_upstream.hpp"

#include <array>

#include "config/units.hpp"
#include "gateway/answer_headers.hpp"
#include "gateway/ask_verdict.hpp"
#include "gateway/subrequest.hpp"
#include "identify/identify.hpp"

namespace stet::gateway {

Task<AskVerdict> ask_upstream(Station& station, SnapshotPtr snapshot, const config::Route& route,
                              Token token) {
  const auto url = config::parse_url(route.reconcile_url, config::UrlQuery::allowed);
  if (!url) co_return asked::Nothing{};
  const std::array<Header, 4> fields{
      Header{route.key_headers.front(), identify::upstream_key(token.key, route.key_spelling)},
      Header{"Stet-Operation", token.id().text()}, Header{"Stet-Attempt", std::to_string(token.attempt)},
      Header{"Accept-Encoding", "identity"}};
  const std::string head = get_head(*url, fields);
  const auto answer = co_await ask(station, snapshot, Subrequest{*url, head, route.max_response_body});
  if (!answer) co_return asked::Nothing{};
  co_return ask_verdict(*answer, route);
}

}  // namespace stet::gateway
