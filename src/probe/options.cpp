#include "probe/options.hpp"

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <iterator>

#include "probe/curl_line.hpp"
#include "probe/openapi.hpp"
#include "probe/run.hpp"

namespace stet::probe {

Expected<std::string, std::string> read_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return tl::unexpected("cannot read " + path);
  return std::string{std::istreambuf_iterator<char>(file), {}};
}

namespace {

constexpr int kMostAtOnce = 512;  // connections; more would measure the machine and not the API
constexpr int kMostRounds = 10'000;

// Collects the first mistake, so that the reading below is a list and not a ladder.
class Reading {
 public:
  template <class T, class Value>
  void take(T& into, const Expected<Value, std::string>& value, const char* word) {
    if (value) {
      into = *value;
    } else {
      wrong(word, value.error());
    }
  }
  void wrong(const std::string& word, const std::string& why) {
    if (mistake_.empty()) mistake_ = word + ": " + why;
  }
  const std::string& mistake() const { return mistake_; }

  // {{env:NAME}}, for what must not stand in a file; remembered, so that reports show the name instead.
  std::string filled(std::string text, Settings& settings) {
    static constexpr std::string_view opening = "{{env:";
    for (std::size_t at = text.find(opening); at != std::string::npos; at = text.find(opening, at)) {
      const std::size_t end = text.find("}}", at);
      if (end == std::string::npos) break;
      const std::string name = text.substr(at + opening.size(), end - at - opening.size());
      const char* value = std::getenv(name.c_str());
      if (value == nullptr || *value == '\0') {
        wrong("{{env:" + name + "}}", "the environment has no " + name);
        break;
      }
      text.replace(at, end + 2 - at, value);
      settings.secrets.push_back({name, value});
    }
    return text;
  }

  std::string body(const std::string& text, const char* word, Settings& settings) {
    std::string content = text;
    if (text.starts_with('@')) take(content, read_file(text.substr(1)), word);
    return filled(content, settings);
  }

  Headers headers(const std::vector<std::string>& lines, const char* word, Settings& settings) {
    Headers parsed;
    for (const std::string& line : lines) {
      Header header;
      take(header, parse_header_line(filled(line, settings)), word);
      parsed.push_back(header);
    }
    return parsed;
  }

 private:
  std::string mistake_;
};

void read_common(const Options& options, Settings& settings, Reading& reading) {
  settings.name = options.name;
  if (!options.key_header.empty()) settings.key_header = options.key_header;
  settings.ignored_headers = options.ignored_headers;
  settings.other_auth = reading.headers(options.other_auth, "other-auth", settings);
  if (options.bad_body) settings.bad_body = reading.body(*options.bad_body, "bad-body", settings);
  if (options.other_body) settings.other_body = reading.body(*options.other_body, "other-body", settings);
  settings.effects = {reading.filled(options.effects, settings), options.count, options.count_header,
                      options.effects_cmd, options.effects_sink};
  const int sources = !options.effects.empty() + !options.effects_cmd.empty() + !options.effects_sink.empty();
  if (sources > 1) reading.wrong("effects", "choose one of effects, effects-cmd and effects-sink");
  if ((options.count || options.count_header) && options.effects.empty()) {
    reading.wrong("count", "it says where the number stands in the answer to --effects, which is not given");
  }
  if (options.count && !options.count->empty() && options.count->front() != '/') {
    reading.wrong("count", "a pointer begins with a slash, as in /data (RFC 6901)");
  }
  if (!options.effects.empty()) {
    Request ignored;  // relative to the API, which is not known yet
    reading.take(ignored,
                 parse_request_line(settings.effects.request, "GET", Url{.host = "api", .target = "/"}),
                 "effects");
  }
  if (!options.effects_sink.empty()) {
    Endpoint ignored;
    reading.take(ignored, parse_endpoint(options.effects_sink), "effects-sink");
  }
  settings.kill_command = options.kill;
  settings.start_command = options.start;
  settings.exec_command = options.exec;
  if (!options.exec.empty() && (!options.kill.empty() || !options.start.empty())) {
    reading.wrong("exec", "the probe then kills and starts the server itself: leave out kill and start");
  }
  if (!options.start.empty() && options.kill.empty())
    reading.wrong("start", "it restarts what --kill killed, which is not given");
  const auto number = [&](const std::optional<std::int64_t>& given, int& into, int least, int most,
                          const char* word) {
    if (!given) return;
    if (*given < least || *given > most) {
      reading.wrong(word, "from " + std::to_string(least) + " to " + std::to_string(most));
    } else {
      into = static_cast<int>(*given);
    }
  };
  number(options.concurrency, settings.concurrency, 2, kMostAtOnce, "concurrency");
  number(options.rounds, settings.rounds, 1, kMostRounds, "rounds");
  const auto duration = [&](const std::string& text, std::chrono::milliseconds& into, const char* word) {
    if (!text.empty()) reading.take(into, parse_duration(text), word);
  };
  duration(options.timeout, settings.timeout, "timeout");
  duration(options.request_timeout, settings.request_timeout, "request-timeout");
  duration(options.patience, settings.patience, "patience");
  duration(options.settle, settings.settling.settle, "settle");
  if (options.openapi.empty() && !options.operations.empty())
    reading.wrong("operation", "it names a part of the document of --openapi, which is not given");
  if (options.other_data && options.other.empty())
    reading.wrong("other-data", "it is the body of --other, which is not given");
  if (!options.cacert.empty()) {
    std::string ignored;
    reading.take(ignored, read_file(options.cacert), "cacert");
  }
  settings.tls.ca_file = options.cacert;
  settings.tls.verify = options.verify;
  settings.only = options.only;
  settings.skip = options.skip;
  for (const std::string& name : unknown_checks(settings))
    reading.wrong("check", "there is no check '" + name + "'");
}

// What needs to know the request: the defaults of its body, the other route.
void complete(const Options& options, Settings& settings, Reading& reading) {
  Request& request = settings.request;
  if (options.data) request.body = reading.body(*options.data, "data", settings);
  for (const Header& header : reading.headers(options.headers, "header", settings)) {
    set_header(request.headers, header.name, header.value);
  }
  remove_header(request.headers, settings.key_header);  // the probe chooses keys
  complete_content_type(request);
  if (options.other.empty()) return;
  Request other;
  reading.take(other, parse_request_line(options.other, request.method, request.url), "other");
  other.headers = request.headers;
  other.body = options.other_data ? reading.body(*options.other_data, "other-data", settings)
               : other.method == "GET" || other.method == "DELETE" ? std::string()
                                                                   : request.body;
  settings.other = std::move(other);
}

std::vector<Settings> read_operations(const Options& options, const Settings& common, Reading& reading) {
  std::vector<Settings> all;
  std::string text;
  reading.take(text, read_file(options.openapi), "openapi");
  if (!reading.mistake().empty()) return all;
  const auto operations = read_openapi(text, options.server);
  if (!operations) {
    reading.wrong(options.openapi, operations.error());
    return all;
  }
  std::vector<std::string> found;
  for (const ApiOperation& operation : *operations) {
    const bool named = std::ranges::find(options.operations, operation.id) != options.operations.end();
    if (!options.operations.empty() && !named) continue;
    found.push_back(operation.id);
    Settings settings = common;
    settings.request = operation.request;
    settings.unusable = operation.unusable;
    settings.name = operation.id + " (" + operation.request.method + " " + operation.request.url.target + ")";
    complete(options, settings, reading);
    all.push_back(std::move(settings));
  }
  for (const std::string& wanted : options.operations) {
    if (std::ranges::find(found, wanted) == found.end()) {
      reading.wrong("operation", "the document has no POST or PATCH with the operationId '" + wanted + "'");
    }
  }
  if (all.empty()) reading.wrong(options.openapi, "it has no POST or PATCH operation");
  return all;
}

}  // namespace

Expected<std::vector<Settings>, std::string> settings_of(const Options& options) {
  Reading reading;
  Settings settings;
  read_common(options, settings, reading);
  const int sources = !options.request.empty() + !options.curl.empty() + !options.openapi.empty();
  if (sources != 1) {
    reading.wrong("request", sources == 0 ? "name a request (POST http://host/path), or give curl or openapi"
                                          : "choose one of a request, curl and openapi");
  }
  std::vector<Settings> all;
  if (!options.openapi.empty() && reading.mistake().empty()) {
    all = read_operations(options, settings, reading);
  } else if (reading.mistake().empty()) {
    if (!options.curl.empty()) {
      reading.take(settings.request, parse_curl(reading.filled(options.curl, settings)), "curl");
    } else {
      std::string line;
      for (const std::string& word : options.request) line += (line.empty() ? "" : " ") + word;
      reading.take(settings.request,
                   parse_request_line(reading.filled(line, settings), "POST", Url{.host = "", .target = "/"}),
                   "request");
    }
    complete(options, settings, reading);
    all.push_back(settings);
  }
  if (!reading.mistake().empty()) return tl::unexpected(reading.mistake());
  return all;
}

}  // namespace stet::probe
