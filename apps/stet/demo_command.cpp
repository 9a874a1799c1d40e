#include <CLI/CLI.hpp>
#include <memory>

#include "command.hpp"
#include "demo/demo_api.hpp"

namespace stet::app {

void add_demo_api(CLI::App& app, Run& run) {
  CLI::App* command =
      app.add_subcommand("demo-api", "a small charges API that is not idempotent, to be protected");
  auto options = std::make_shared<demo::DemoOptions>();
  command->add_option("--listen", options->listen, "where to listen; port 0 picks one")
      ->type_name("HOST:PORT")
      ->capture_default_str();
  command->add_option("--db", options->db, "the ledger, made when it is not there")
      ->type_name("FILE")
      ->capture_default_str();
  command->footer(demo::fault_help() +
                  "\n\nExample: stet demo-api --listen 127.0.0.1:3000 --db charges.db\n"
                  "         curl -d '{\"amount\":4900}' http://127.0.0.1:3000/charges");
  command->callback([options, &run] { run = [options] { return demo::run(*options); }; });
}

}  // namespace stet::app
