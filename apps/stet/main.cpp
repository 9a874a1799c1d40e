#include <CLI/CLI.hpp>
#include <exception>
#include <iostream>
#include <string>
#include <vector>

#include "command.hpp"
#include "stet/error.hpp"

namespace {

using namespace stet::app;

constexpr void (*kCommands[])(CLI::App&, Run&) = {&add_serve, &add_check_config, &add_keys, &add_demo_api,
                                                  &add_probe, &add_schema};

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("Makes any write safe to retry: a gateway in front of an HTTP API.", "stet");
  app.footer(
      "Example: stet serve --upstream http://127.0.0.1:3000\n`stet COMMAND --help` explains each command.");
  app.set_version_flag("--version", std::string("stet ") + STET_VERSION);
  app.require_subcommand(1);
  Run run;
  for (const auto add : kCommands) add(app, run);

  try {
    app.parse(argc, argv);
  } catch (const CLI::Success& asked) {  // --help, --version
    app.exit(asked);
    return kOk;
  } catch (const CLI::ParseError& error) {
    const std::vector<std::string> left = app.remaining();
    const bool misspelt = app.get_subcommands().empty() && !left.empty() && !left.front().starts_with('-');
    std::cerr << "stet: "
              << (misspelt ? "there is no command '" + left.front() + "'" : std::string(error.what()))
              << "\nRun with --help for more information.\n";
    return kUsage;
  }
  try {
    return run();
  } catch (const std::exception& error) {
    std::cerr << "stet: " << error.what() << '\n';
    return kEnvironment;
  }
}
