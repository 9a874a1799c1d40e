#pragma once
// One request while it is served, and what is said of it in the log.

#include <chrono>

#include "admin/log.hpp"
#include "gateway/snapshot.hpp"
#include "http/body_decoder.hpp"
#include "http/message.hpp"

namespace stet::gateway {

// What happens to the connection once the request is answered.
enum class After : std::uint8_t { keep, close };

struct Request {
  Request(SnapshotPtr in_use, http::RequestHead received)
      : snapshot(std::move(in_use)), head(std::move(received)), body(head, http::Trailers::drop) {}

  SnapshotPtr snapshot;
  http::RequestHead head;
  const RouteInUse* route = nullptr;  // none for what the gateway answers by itself
  http::BodyDecoder body;             // of what has not been read yet
  bool owes_continue = false;         // the caller waits for 100 before it sends its body
  std::chrono::steady_clock::time_point began = std::chrono::steady_clock::now();

  // ---- for the log and the counters ----
  int status = 0;  // as sent; 0: the caller had gone
  std::optional<Outcome> outcome;
  std::optional<Problem> problem;
  std::optional<OperationId> operation;
  std::string scope;
  std::string key;
  std::uint32_t attempt = 0;
  std::optional<int> upstream_status;
  std::optional<std::chrono::nanoseconds> upstream_time;
  std::optional<std::chrono::nanoseconds> store_time;
  std::string why;
};

struct Response {
  int status = 200;
  Headers fields;  // end-to-end lines
  Headers more;    // of ours, after them
  std::string body;
};

void write_log(admin::Log&, const Request&);

}  // namespace stet::gateway
