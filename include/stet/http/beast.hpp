#pragma once
// Boost.Beast's messages as Stet's, and back:
//
//   http::request<http::string_body> in = …read…;
//   auto out = stet::http::to_beast(create_order(stet::http::from_beast(in)), in);
//   …write(out)…
//
// For requests whose body has been read into a string. Trailers are not looked at.

#include <boost/beast/http/message.hpp>
#include <boost/beast/http/string_body.hpp>
#include <string>
#include <utility>

#include "stet/http/message.hpp"

namespace stet::http {

inline Request from_beast(const boost::beast::http::request<boost::beast::http::string_body>& in) {
  Request request{std::string(in.method_string()), std::string(in.target()), {}, in.body()};
  for (const auto& field : in) {
    request.headers.push_back({std::string(field.name_string()), std::string(field.value())});
  }
  return request;
}

// `in` says which version is spoken and whether the connection stays open. Throws std::out_of_range for a
// status beyond 999.
inline boost::beast::http::response<boost::beast::http::string_body> to_beast(
    Response response, const boost::beast::http::request<boost::beast::http::string_body>& in) {
  boost::beast::http::response<boost::beast::http::string_body> out;
  out.version(in.version());
  out.result(static_cast<unsigned>(response.status));
  for (const Header& header : response.headers) {
    if (is_sent(header)) out.insert(header.name, header.value);
  }
  if (has_body(response.status)) out.body() = std::move(response.body);
  out.keep_alive(in.keep_alive());
  out.prepare_payload();
  return out;
}

}  // namespace stet::http
