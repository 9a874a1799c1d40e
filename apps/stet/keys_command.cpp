#include <CLI/CLI.hpp>
#include <boost/json/serialize.hpp>
#include <fstream>
#include <iostream>
#include <iterator>
#include <memory>

#include "command.hpp"
#include "config/reading.hpp"
#include "config/units.hpp"
#include "config_flags.hpp"
#include "keys_text.hpp"
#include "operators.hpp"
#include "stores/open.hpp"

namespace stet::app {
namespace {

namespace json = boost::json;

struct Options {
  // where
  std::optional<std::string> admin, token, store, config;
  std::string format = "text";
  // which
  std::string name;
  std::optional<std::string> scope, state, key, older_than;
  std::size_t limit = 100;
  std::string cursor;
  // how to settle
  int status = 0;
  std::optional<std::string> body_file;
  std::vector<std::string> headers;
  bool release = false, force = false, trust_clock = false;
};

int refuse(int code, const std::string& what) {
  std::cerr << "stet keys: " << what << '\n';
  return code;
}

// The configuration that the gateway runs with, when it was named; else the defaults.
std::optional<std::shared_ptr<const config::Config>> configuration(const Options& options) {
  if (!options.config && !config::process_environment("STET_CONFIG"))
    return std::make_shared<const config::Config>();
  config::Flags flags;
  flags.file = options.config;
  const auto loaded = config::load({flags});
  if (loaded) return loaded->config;
  show(loaded.error());
  return std::nullopt;
}

Answered<std::string> token(const Options& options, const config::Config& config) {
  if (!options.token)
    return config.admin_token.value_or(config::process_environment("STET_ADMIN_TOKEN").value_or(""));
  config::Findings findings;
  const config::Environment environment = &config::process_environment;
  config::Reading reading{findings, environment, config::Exposure::closed, "--token"};
  const auto resolved =
      config::resolve(reading, {*options.token, {"stet keys", 0, 0}}, config::Publicity::secret);
  if (!resolved) return unexpected<Refused>({kUsage, findings.take().at(0).what});
  return *resolved;
}

Answered<std::unique_ptr<Operators>> reach(const Options& options,
                                           std::shared_ptr<const config::Config> config) {
  if (options.store) {
    if (const auto url = config::check_store(*options.store); !url)
      return unexpected<Refused>({kUsage, "--store: " + url.error()});
    try {
      return on_store(*options.store, std::move(config));
    } catch (const StoreError& error) {
      const bool one_process = stores::sqlite_path(*options.store).has_value();
      return unexpected<Refused>(
          {kEnvironment, std::string(error.what()) + (one_process ? " (a running gateway holds its store: use --admin)" : "")});
    }
  }
  config::Endpoint endpoint = config->admin;
  auto address = options.admin;
  if (!address) address = config::process_environment("STET_ADMIN");
  if (address && !address->empty()) {
    auto parsed = config::parse_endpoint(*address);
    if (!parsed) return unexpected<Refused>({kUsage, "--admin: " + parsed.error()});
    endpoint = std::move(*parsed);
  }
  if (endpoint.port == 0)
    return unexpected<Refused>({kUsage, "the admin port is picked at start: --admin names it"});
  auto secret = token(options, *config);
  if (!secret) return unexpected<Refused>(secret.error());
  return through_admin_port(endpoint, std::move(*secret));
}

using Text = std::string (*)(const json::object&);

int print(const Options& options, const Answered<json::object>& answer, Text text) {
  if (!answer) return refuse(answer.error().exit_code, answer.error().what);
  std::cout << (options.format == "json" ? json::serialize(*answer) + "\n" : text(*answer));
  return kOk;
}

int list(const Options& options, Operators& operators) {
  ListRequest request;
  if (options.state) request.filter.state = parse_state(*options.state);
  request.filter.scope = options.scope;
  request.filter.key = options.key;
  if (options.older_than) {
    const auto age = config::parse_duration(*options.older_than);
    if (!age) return refuse(kUsage, "--older-than: " + age.error());
    request.filter.created_before = std::chrono::floor<milliseconds>(std::chrono::system_clock::now()) - *age;
  }
  request.limit = options.limit;
  request.cursor = options.cursor;
  return print(options, operators.collect(request), &list_text);
}

int show_one(const Options& options, Operators& operators) {
  const auto id = operators.resolve(options.name, options.scope);
  if (!id) return refuse(id.error().exit_code, id.error().what);
  return print(options, operators.show(*id), &operation_text);
}

Answered<std::string> read_body(const std::string& path) {
  std::ifstream file;
  if (path != "-") {
    file.open(path, std::ios::binary);
    if (!file) return unexpected<Refused>({kEnvironment, path + " cannot be read"});
  }
  std::istream& source = path == "-" ? std::cin : file;
  std::string body{std::istreambuf_iterator<char>(source), std::istreambuf_iterator<char>()};
  if (source.bad()) return unexpected<Refused>({kEnvironment, path + " cannot be read"});
  return body;
}

Answered<admin::SettleRequest> settle_request(const Options& options) {
  admin::SettleRequest request;
  request.force = options.force ? admin::Force::yes : admin::Force::no;
  if (options.release) {
    if (options.status != 0 || options.body_file || !options.headers.empty())
      return unexpected<Refused>(
          {kUsage, "--release and an answer (--status, --body-file, -H) exclude each other"});
    return request;
  }
  if (options.status == 0)
    return unexpected<Refused>({kUsage, "--status with the answer to keep, or --release, was meant"});
  Answer answer;
  answer.status = options.status;
  for (const std::string& line : options.headers) {
    const std::size_t colon = line.find(':');
    if (colon == line.npos) return unexpected<Refused>({kUsage, "-H: \"name: value\" was meant"});
    const std::size_t value = line.find_first_not_of(" \t", colon + 1);
    answer.headers.push_back({line.substr(0, colon), value == line.npos ? "" : line.substr(value)});
  }
  if (options.body_file) {
    auto body = read_body(*options.body_file);
    if (!body) return unexpected<Refused>(body.error());
    answer.body = std::move(*body);
  }
  request.answer = std::move(answer);
  // The same rules as for what comes over the network.
  const auto checked = admin::parse_settle(admin::settle_json(request));
  if (!checked) return unexpected<Refused>({kUsage, checked.error()});
  return request;
}

int settle(const Options& options, Operators& operators) {
  const auto request = settle_request(options);
  if (!request) return refuse(request.error().exit_code, request.error().what);
  const auto id = operators.resolve(options.name, options.scope);
  if (!id) return refuse(id.error().exit_code, id.error().what);
  return print(options, operators.settle(*id, *request), &settled_text);
}

int sweep(const Options& options, Operators& operators) {
  const auto clock = options.trust_clock ? command::Sweep::Clock::trusted : command::Sweep::Clock::checked;
  return print(options, operators.sweep(clock), &swept_text);
}

int with_operators(const Options& options, int (*work)(const Options&, Operators&)) {
  const auto config = configuration(options);
  if (!config) return kUsage;
  const auto operators = reach(options, *config);
  if (!operators) return refuse(operators.error().exit_code, operators.error().what);
  return work(options, **operators);
}

void add_where(CLI::App& command, Options& options) {
  auto* admin = command
                    .add_option("--admin", options.admin,
                                "the admin port of a running gateway (STET_ADMIN) [127.0.0.1:9090]")
                    ->type_name("HOST:PORT");
  command.add_option("--token", options.token,
                     "its admin_token: env:NAME, file:PATH or itself (STET_ADMIN_TOKEN)");
  command.add_option("--store", options.store, "work on the store itself; on a file only when no gateway runs")
      ->type_name("URL")
      ->excludes(admin);
  command
      .add_option("--config", options.config,
                  "the gateway's configuration: its admin port, token, encryption and time-outs")
      ->type_name("FILE");
  command.add_option("--format", options.format, "text or json")
      ->check(CLI::IsMember({"text", "json"}))
      ->capture_default_str();
}

using Shared = std::shared_ptr<Options>;

CLI::App* add(CLI::App& keys, const char* name, const char* what, const char* example, const Shared& options,
              Run& run, int (*work)(const Options&, Operators&)) {
  CLI::App* command = keys.add_subcommand(name, what);
  add_where(*command, *options);
  command->footer(std::string("Example: ") + example);
  command->callback(
      [options, &run, work] { run = [options, work] { return with_operators(*options, work); }; });
  return command;
}

void add_name(CLI::App& command, Options& options) {
  command.add_option("KEY", options.name, "the operation's id, or its key")->required();
  command.add_option("--scope", options.scope, "the scope's hash, when the key stands in several");
}

}  // namespace

void add_keys(CLI::App& app, Run& run) {
  CLI::App* keys = app.add_subcommand("keys", "looks at operations, settles them, sweeps");
  keys->require_subcommand(1);
  keys->footer("Example: stet keys list --state unknown");
  const Shared options = std::make_shared<Options>();

  CLI::App* lists = add(*keys, "list", "lists operations, oldest first",
                        "stet keys list --state unknown --older-than 1h", options, run, &list);
  lists->add_option("--state", options->state, "pending, completed, unknown or expired")
      ->check(CLI::IsMember({"pending", "completed", "unknown", "expired"}));
  lists->add_option("--scope", options->scope, "the scope's hash");
  lists->add_option("--key", options->key, "the key, whole");
  lists->add_option("--older-than", options->older_than, "claimed longer ago than that")
      ->type_name("DURATION");
  lists->add_option("--limit", options->limit, "how many at the most")
      ->check(CLI::Range(1, 1'000'000))
      ->capture_default_str();
  lists->add_option("--cursor", options->cursor, "where an earlier list ended");

  add_name(*add(*keys, "show", "shows one operation whole",
                "stet keys show 8e03978e-40d5-43dd-bc93-6894a57f9324", options, run, &show_one),
           *options);

  CLI::App* settles =
      add(*keys, "settle", "gives an unknown or lapsed operation its answer, or frees its key",
          "stet keys settle KEY --status 201 --body-file charge.json -H 'Content-Type: application/json'",
          options, run, &settle);
  add_name(*settles, *options);
  settles->add_option("--status", options->status, "the answer's status")->check(CLI::Range(200, 599));
  settles->add_option("--body-file", options->body_file, "the answer's body; - is standard input")
      ->type_name("FILE");
  settles->add_option("-H,--header", options->headers, "\"name: value\" of the answer; may be repeated")
      ->allow_extra_args(false);
  settles->add_flag("--release", options->release, "nothing was done: the next request with the key runs");
  settles->add_flag("--force", options->force, "release although the last attempt may still be running");

  CLI::App* releases = add(*keys, "release", "the same as settle --release", "stet keys release KEY --force",
                           options, run, [](const Options& said, Operators& operators) {
                             Options release = said;
                             release.release = true;
                             return settle(release, operators);
                           });
  add_name(*releases, *options);
  releases->add_flag("--force", options->force, "although the last attempt may still be running");

  CLI::App* sweeps =
      add(*keys, "sweep", "ends what is past its retention", "stet keys sweep", options, run, &sweep);
  sweeps->add_flag("--trust-clock", options->trust_clock, "sweep although the wall clock has jumped");
}

}  // namespace stet::app
