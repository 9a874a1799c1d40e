#pragma once
// What one API is probed with: made by the flags, a pasted curl line, an OpenAPI document or a suite.

#include <optional>
#include <string>
#include <vector>

#include "probe/effects.hpp"

namespace stet::probe {

// A request written on the command line: "GET http://host/path", or "/path" on the target's own host.
struct EffectsSource {
  std::string request;                 // --effects
  std::optional<std::string> pointer;  // --count
  std::optional<std::string> header;   // --count-header
  std::string command;                 // --effects-cmd
  std::string sink;                    // --effects-sink, "host:port"
};

struct Settings {
  std::string name;      // in reports; the method and URL where it is empty
  Request request;       // with {{uuid}} and {{n}} unfilled
  std::string unusable;  // why no request could be made (of an OpenAPI operation); empty when one was
  std::string key_header = "Idempotency-Key";

  std::optional<Request> other;              // another route, for other-route
  std::vector<std::string> ignored_headers;  // beyond those that never count, when answers are compared
  Headers other_auth;                        // another caller's, for other-caller
  std::optional<std::string> bad_body;       // fails validation, for failed-first
  std::optional<std::string> other_body;     // valid, another payload, for other-payload
  EffectsSource effects;

  std::string kill_command;
  std::string start_command;
  std::string exec_command;

  int concurrency = 16;
  int rounds = 20;
  std::chrono::milliseconds timeout = std::chrono::minutes(10);  // of the whole run
  std::chrono::milliseconds request_timeout = std::chrono::seconds(30);
  std::chrono::milliseconds patience = std::chrono::seconds(60);  // how long a retry may hear "in progress"
  Settling settling;
  TlsSettings tls;

  // Values that came from the environment, by name: reports show the name.
  struct Secret {
    std::string name;
    std::string value;
  };
  std::vector<Secret> secrets;

  std::vector<std::string> only;  // checks by name; empty: all
  std::vector<std::string> skip;

  std::string label() const { return name.empty() ? request.method + " " + request.url.text() : name; }
};

// "METHOD URL" or "URL" (then `method`), relative to `base`.
Expected<Request, std::string> parse_request_line(const std::string& text, const std::string& method,
                                                  const Url& base);

// "Name: value"
Expected<Header, std::string> parse_header_line(const std::string& text);

// "250ms", "30s", "10m", "2h"
Expected<std::chrono::milliseconds, std::string> parse_duration(const std::string& text);

// "host:port"
Expected<Endpoint, std::string> parse_endpoint(const std::string& text);

// Adds the Content-Type that a body without one plainly has: JSON where it reads as JSON, else a form.
void complete_content_type(Request&);

}  // namespace stet::probe
