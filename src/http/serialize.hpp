#pragma once
// Writing HTTP/1.1 heads and chunks. A head is made anew from what was understood, never copied
// (docs/http.md, "To the upstream").

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "http/message.hpp"

namespace stet::http {

// How the body that follows is framed. `until_close` is for answers only.
struct OutgoingBody {
  BodyFraming framing = BodyFraming::none;
  std::uint64_t length = 0;  // sized
  static OutgoingBody none() { return {}; }
  static OutgoingBody sized(std::uint64_t length) { return {BodyFraming::sized, length}; }
  static OutgoingBody chunked() { return {BodyFraming::chunked, 0}; }
  static OutgoingBody until_close() { return {BodyFraming::until_close, 0}; }
};

// Fields that belong to one connection (RFC 9110 section 7.6.1), with Content-Length, which we always write
// anew.
bool is_hop_by_hop(std::string_view name);

// The end-to-end lines of a message: without hop-by-hop fields, those that Connection names, Content-Length,
// `Trailer`, Stet-* and Idempotent-Replayed. What is stored and replayed of an answer.
Headers end_to_end(const Fields&);

enum class Scheme : std::uint8_t { http, https };
enum class Upgrading : std::uint8_t {
  strip,
  pass
};  // pass: Connection: Upgrade with the client's Upgrade value

// What the gateway adds to a request on its way. Views live as long as the call.
struct Forwarding {
  std::string_view target;          // what the upstream is asked for, its own path included (join_target)
  std::string_view host;            // what Host becomes; empty: as the client sent it
  std::string_view fallback_host;   // Host when an HTTP/1.0 client sent none
  std::string_view client_address;  // "192.0.2.1", "2001:db8::1", without a port
  Scheme scheme = Scheme::http;     // that the client used
  OutgoingBody body;
  Upgrading upgrading = Upgrading::strip;
  Persistence persistence = Persistence::keep;
  std::span<const std::string> drop;  // names whose lines are left out (the key headers, Accept-Encoding, …)
  std::span<const Header> add;  // lines of ours (Stet-Operation, Stet-Attempt, the key in one spelling, …)
};

// Appends the request head. Of the client's lines it keeps order and spelling, but for
//   - hop-by-hop fields and those that Connection names; Expect; Stet-*; Content-Length and Host (written
//   anew)
//   - Via and Forwarded, which get one element more; X-Forwarded-For, which gets the client's address at its
//   end;
//     X-Forwarded-Proto and X-Forwarded-Host, kept where one came (an ingress that ended TLS knows better),
//     else set.
void append_request_head(std::string& out, const RequestHead&, const Forwarding&);

// What a client gets. An answer to HEAD says sized(what GET would have got) where that is known, else
// until_close(), which writes no length; `none` writes Content-Length: 0. 1xx, 204 and 304 get neither.
// `fields` are end-to-end lines: hop-by-hop ones among them, Content-Length and Date repeats are left out.
// Date is added when there is none.
struct Reply {
  int status = 200;
  std::string_view reason;  // empty: the registered phrase
  std::span<const Header> fields;
  std::span<const Header> more;  // lines of ours, after them
  OutgoingBody body;
  Persistence persistence = Persistence::keep;
  int client_minor = 1;      // of the request: HTTP/1.0 needs `Connection: keep-alive` said
  WallTime now{};            // for Date
  std::string_view upgrade;  // 101 only
};
void append_response_head(std::string& out, const Reply&);

std::string_view reason_phrase(int status);  // "" when not registered

inline constexpr std::string_view kContinue = "HTTP/1.1 100 Continue\r\n\r\n";
// A chunk is its head, the data and kChunkEnd; data is never empty, because that would be the last one.
void append_chunk_head(std::string& out, std::uint64_t size);
inline constexpr std::string_view kChunkEnd = "\r\n";
inline constexpr std::string_view kLastChunk = "0\r\n\r\n";

}  // namespace stet::http
