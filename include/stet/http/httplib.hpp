#pragma once
// cpp-httplib's messages as Stet's, and back:
//
//   server.Post("/orders", [&](const httplib::Request& in, httplib::Response& out) {
//     stet::http::to_httplib(create_order(stet::http::from_httplib(in)), out);
//   });
//
// cpp-httplib (0.11, Debian's) decodes %XX in the values of headers before anybody sees them: keys that
// differ in nothing else are one key to this service, and a Scope that reads a header sees the decoded text.
//
// cpp-httplib takes a multipart body apart before a handler sees it; from_httplib puts it together again,
// because the fingerprint of two uploads must not be that of nothing.

#include <httplib.h>

#include <array>
#include <string>
#include <string_view>
#include <utility>

#include "stet/http/message.hpp"

namespace stet::http {

namespace httplib_detail {

// The boundary that the request names; empty when it names none.
inline std::string boundary_of(const ::httplib::Request& in) {
  const std::string type = in.get_header_value("Content-Type");
  const std::size_t at = type.find("boundary=");
  if (at == std::string::npos) return {};
  std::string boundary = type.substr(at + 9);
  boundary = boundary.substr(0, boundary.find(';'));
  if (boundary.size() >= 2 && boundary.front() == '"' && boundary.back() == '"') {
    boundary = boundary.substr(1, boundary.size() - 2);
  }
  return boundary;
}

inline std::string multipart_body(const ::httplib::Request& in) {
  const std::string boundary = boundary_of(in);
  std::string body;
  for (const auto& [name, part] : in.files) {
    body += "--" + boundary + "\r\nContent-Disposition: form-data; name=\"" + name + "\"";
    if (!part.filename.empty()) body += "; filename=\"" + part.filename + "\"";
    if (!part.content_type.empty()) body += "\r\nContent-Type: " + part.content_type;
    body += "\r\n\r\n" + part.content + "\r\n";
  }
  return body + "--" + boundary + "--\r\n";
}

// cpp-httplib adds these to what the client sent.
inline bool is_added(std::string_view name) {
  constexpr std::array<std::string_view, 4> kAdded{"REMOTE_ADDR", "REMOTE_PORT", "LOCAL_ADDR", "LOCAL_PORT"};
  for (const std::string_view added : kAdded) {
    if (name == added) return true;
  }
  return false;
}

}  // namespace httplib_detail

inline Request from_httplib(const ::httplib::Request& in) {
  Request request{in.method, in.target.empty() ? in.path : in.target, {}, in.body};
  for (const auto& [name, value] : in.headers) {
    if (!httplib_detail::is_added(name)) request.headers.push_back({name, value});
  }
  if (in.is_multipart_form_data() && in.body.empty()) request.body = httplib_detail::multipart_body(in);
  return request;
}

inline void to_httplib(Response response, ::httplib::Response& out) {
  out.status = response.status;
  for (const Header& header : response.headers) {
    if (is_sent(header)) out.set_header(header.name, header.value);
  }
  if (has_body(response.status)) out.body = std::move(response.body);
}

}  // namespace stet::http
