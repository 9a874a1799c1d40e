#include <unistd.h>

#include <CLI/CLI.hpp>
#include <iostream>
#include <iterator>
#include <memory>

#include "command.hpp"
#include "probe/checks/check.hpp"
#include "probe/command.hpp"

namespace stet::app {
namespace {

using probe::Format;

const std::map<std::string, Format> kFormats = {
    {"text", Format::text}, {"json", Format::json}, {"junit", Format::junit}, {"markdown", Format::markdown}};

std::string checks_help() {
  std::string text = "Checks:\n";
  for (const probe::Check* check : probe::all_checks()) {
    std::string name(check->name);
    name.resize(18, ' ');
    text += "  " + name + std::string(check->question) + "\n";
  }
  return text +
         "\nExit codes: 0 nothing failed, 1 a check failed, 2 wrong usage, 3 no verdict (not reachable, out "
         "of time, interrupted).\n"
         "\nExample: stet probe POST http://127.0.0.1:8080/charges -d '{\"amount\":4900}' \\\n"
         "           --effects 'GET /charges' --count /data\n"
         "         stet probe --explain at-once";
}

struct Flags {
  probe::Invocation invocation;
  bool insecure = false;
};

void add_request_flags(CLI::App& command, probe::Options& options) {
  command.add_option("request", options.request, "method and URL (POST when only the URL is given)")
      ->expected(0, 2);
  command.add_option("-H,--header", options.headers, "a header of every request")
      ->type_name("'NAME: VALUE'")
      ->allow_extra_args(false);
  command
      .add_option("-d,--data", options.data,
                  "the body, or @file; {{uuid}} and {{n}} are fresh for each operation")
      ->type_name("BODY");
  command
      .add_option("--curl", options.curl,
                  "the request as a curl line, as browsers copy it; '-' reads it from stdin")
      ->type_name("LINE");
  command.add_option("--openapi", options.openapi, "an OpenAPI document: every POST and PATCH of it")
      ->type_name("FILE");
  command.add_option("--operation", options.operations, "only this operationId of the document")
      ->type_name("ID")
      ->allow_extra_args(false);
  command.add_option("--server", options.server, "instead of the document's own server")->type_name("URL");
  command.add_option("--key-header", options.key_header, "the name of the key's header (Idempotency-Key)")
      ->type_name("NAME");
  command
      .add_option("--ignore-header", options.ignored_headers,
                  "a header that may differ between answers; may be repeated")
      ->type_name("NAME")
      ->allow_extra_args(false);
  command.add_option("--other", options.other, "another route, for other-route")->type_name("'METHOD URL'");
  command.add_option("--other-data", options.other_data, "its body")->type_name("BODY");
  command.add_option("--other-auth", options.other_auth, "another caller's credentials, for other-caller")
      ->type_name("'NAME: VALUE'")
      ->allow_extra_args(false);
  command.add_option("--bad-body", options.bad_body, "a body that fails validation, for failed-first")
      ->type_name("BODY");
  command
      .add_option("--other-body", options.other_body, "a valid body with another meaning, for other-payload")
      ->type_name("BODY");
}

void add_effect_flags(CLI::App& command, probe::Options& options) {
  command
      .add_option("--effects", options.effects,
                  "a request whose answer holds the number of effects, or a list of them")
      ->type_name("'GET URL'");
  command.add_option("--count", options.count, "where, as a JSON pointer: a number or a list")
      ->type_name("/POINTER");
  command.add_option("--count-header", options.count_header, "where, as a header of the answer")
      ->type_name("NAME");
  command.add_option("--effects-cmd", options.effects_cmd, "a shell command that prints the number")
      ->type_name("COMMAND");
  command
      .add_option("--effects-sink", options.effects_sink,
                  "listen here and count the calls that the API makes (its URL is in STET_PROBE_SINK)")
      ->type_name("HOST:PORT");
}

void add_run_flags(CLI::App& command, Flags& flags) {
  probe::Options& options = flags.invocation.options;
  command.add_option("--kill", options.kill, "a shell command that kills the server, for kill")
      ->type_name("COMMAND");
  command.add_option("--start", options.start, "a shell command that starts it again")->type_name("COMMAND");
  command.add_option("--exec", options.exec, "the server itself: started, killed and restarted by the probe")
      ->type_name("COMMAND");
  command.add_option("--concurrency", options.concurrency, "simultaneous requests in at-once (16)");
  command.add_option("--rounds", options.rounds, "rounds of at-once and kill (20)");
  command.add_option("--timeout", options.timeout, "for the whole run (10m)")->type_name("DURATION");
  command.add_option("--request-timeout", options.request_timeout, "for one answer (30s)")
      ->type_name("DURATION");
  command.add_option("--patience", options.patience, "how long a retry may hear 'in progress' (60s)")
      ->type_name("DURATION");
  command.add_option("--settle", options.settle, "how long the count must stand still (150ms)")
      ->type_name("DURATION");
  command.add_flag("-k,--insecure", flags.insecure, "do not verify the server's certificate");
  command.add_option("--cacert", options.cacert, "trust the certificates in this file")->type_name("FILE");
  command.add_option("--check", options.only, "only this check; may be repeated")
      ->type_name("CHECK")
      ->allow_extra_args(false);
  command.add_option("--skip", options.skip, "not this check; may be repeated")
      ->type_name("CHECK")
      ->allow_extra_args(false);
  command.add_option("--suite", flags.invocation.suite, "a TOML file that names the APIs to probe")
      ->type_name("FILE");
  command.add_option("--explain", flags.invocation.explain, "why a check matters and how its fault is fixed")
      ->type_name("CHECK");
  // Not CLI::CheckedTransformer: its help and its message name the enum's values, which have no text.
  command
      .add_option_function<std::string>(
          "--format", [&flags](const std::string& name) { flags.invocation.format = kFormats.at(name); },
          "how the report is written (text)")
      ->check(CLI::IsMember(kFormats))
      ->type_name("FORMAT");
}

// What stands in the suite counts there, for each API: it would be ignored in silence.
void refuse_beside_a_suite(const CLI::App& command, const Flags& flags) {
  if (flags.invocation.suite.empty()) return;
  for (const CLI::Option* option : command.get_options()) {
    const std::string name = option->get_name();
    if (option->count() > 0 && name != "--suite" && name != "--format")
      throw CLI::ValidationError("--suite", "the file says it all: write " + name + " into it, for all under [defaults]");
  }
}

int run_probe(Flags flags) {
  probe::Invocation& invocation = flags.invocation;
  if (flags.insecure) invocation.options.verify = probe::TlsSettings::Verify::no;
  if (invocation.options.curl == "-") {
    invocation.options.curl = std::string(std::istreambuf_iterator<char>(std::cin), {});
  }
  if (::isatty(STDOUT_FILENO) == 1) invocation.colour = probe::Colour::yes;
  if (::isatty(STDERR_FILENO) == 1) invocation.ticker = probe::Invocation::Ticker::on;
  return probe::execute(invocation, std::cout, std::cerr);
}

}  // namespace

void add_probe(CLI::App& app, Run& run) {
  CLI::App* command = app.add_subcommand("probe", "is this API safe to retry?");
  auto flags = std::make_shared<Flags>();
  add_request_flags(*command, flags->invocation.options);
  add_effect_flags(*command, flags->invocation.options);
  add_run_flags(*command, *flags);
  command->footer(checks_help());
  command->callback([command, flags, &run] {
    refuse_beside_a_suite(*command, *flags);
    run = [flags] { return run_probe(*flags); };
  });
}

}  // namespace stet::app
