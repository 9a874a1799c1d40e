#pragma once
// What was asked for, as text: by flags or by a table of a suite. The same words in both (cli: --other-auth,
// suite: other_auth), so one place turns them into Settings.

#include <optional>
#include <string>
#include <vector>

#include "probe/settings.hpp"

namespace stet::probe {

struct Options {
  std::string name;
  std::vector<std::string> request;  // "POST" and the URL, or one of "POST URL" and "URL"
  std::vector<std::string> headers;
  std::optional<std::string> data;  // "@file" is the file's content
  std::string curl;                 // a pasted line
  std::string openapi;              // a file
  std::vector<std::string> operations;
  std::string server;
  std::string key_header;
  std::vector<std::string> ignored_headers;

  std::string other;
  std::optional<std::string> other_data;
  std::vector<std::string> other_auth;
  std::optional<std::string> bad_body;
  std::optional<std::string> other_body;

  std::string effects;
  std::optional<std::string> count;
  std::optional<std::string> count_header;
  std::string effects_cmd;
  std::string effects_sink;

  std::string kill;
  std::string start;
  std::string exec;

  std::optional<std::int64_t> concurrency;
  std::optional<std::int64_t> rounds;
  std::string timeout;
  std::string request_timeout;
  std::string patience;
  std::string settle;
  std::string cacert;
  TlsSettings::Verify verify = TlsSettings::Verify::yes;

  std::vector<std::string> only;
  std::vector<std::string> skip;
};

// One Settings for each request to probe: several for an OpenAPI document. The error says which word is
// wrong.
Expected<std::vector<Settings>, std::string> settings_of(const Options&);

// A suite file: [defaults] and one [[api]] for each API. Every mistake with its line.
Expected<std::vector<Options>, std::string> read_suite(const std::string& file);

Expected<std::string, std::string> read_file(const std::string& path);

}  // namespace stet::probe
