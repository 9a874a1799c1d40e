#pragma once
// A small charges API that is honestly not idempotent: every POST /charges that it understands makes a
// charge, whatever key it carries. It exists to be protected (and, on request, to misbehave):
// src/demo/README.md.

#include <string>

namespace stet::demo {

struct DemoOptions {
  std::string listen = "127.0.0.1:3000";  // host:port; port 0 lets the system pick
  std::string db = "charges.db";          // the ledger, made when it does not exist
};

// The faults that a request can ask for, one line each: for `--help`.
std::string fault_help();

// Serves until SIGTERM or SIGINT (0) or until a request asks for a crash. Prints one line with its address
// once it listens: "demo-api listening on http://127.0.0.1:3000 (ledger charges.db)". Exit codes as in
// docs/cli.md: 2 for an address that is none, 3 when the port or the ledger cannot be had.
int run(const DemoOptions&);

}  // namespace stet::demo
