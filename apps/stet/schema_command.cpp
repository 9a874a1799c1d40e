#include <CLI/CLI.hpp>
#include <iostream>
#include <memory>

#include "command.hpp"
#include "stet/error.hpp"
#include "stet/sqlite/session.hpp"
#include "stores/postgres/postgres_store.hpp"
#include "stores/postgres/schema_keeper.hpp"

namespace stet::app {
namespace {

namespace postgres = stores::postgres;

struct Options {
  std::string engine;
  std::string store;
  std::optional<int> partitions;
  std::string app_role;
};

int refuse(int code, const std::string& what) {
  std::cerr << "stet schema: " << what << '\n';
  return code;
}

postgres::SchemaOptions wanted(const Options& options) {
  postgres::SchemaOptions schema;
  schema.partitions = options.partitions.value_or(schema.partitions);
  schema.app_role = options.app_role;
  return schema;
}

int print(const Options& options) {
  if (options.engine == "postgres") {
    std::cout << "-- To be run in one transaction (psql -1).\n\n" << postgres::schema_sql(wanted(options));
    return kOk;
  }
  if (options.partitions || !options.app_role.empty()) {
    return refuse(kUsage, "--partitions and --app-role are for postgres");
  }
  // What a session of the library needs in a file of the application's. The gateway makes its own file.
  std::cout << sqlite::schema();
  return kOk;
}

// The work on the server, or why there is none to be done.
int on_server(const Options& options, int (*work)(const Options&)) {
  if (options.store.starts_with("sqlite:")) {
    return refuse(kUsage, "the gateway makes its SQLite file itself; for a file of your own: stet schema print sqlite");
  }
  if (!postgres::is_postgres(options.store)) return refuse(kUsage, "--store: postgresql://… was meant");
  try {
    return work(options);
  } catch (const StoreError& error) {
    return refuse(kEnvironment, error.what());
  }
}

int apply(const Options& options) {
  const postgres::Applied applied = postgres::apply_schema(options.store, wanted(options));
  const postgres::SchemaStatus status = postgres::schema_status(options.store);
  if (applied == postgres::Applied::present && options.partitions && *options.partitions != status.partitions) {
    return refuse(kEnvironment, "the schema is there with " + std::to_string(status.partitions) +
                                    " partitions, which cannot be changed");
  }
  std::cout << (applied == postgres::Applied::created ? "created" : "nothing to do") << ": schema stet, version "
            << postgres::kSchemaVersion << ", " << status.partitions << " partitions\n";
  if (!options.app_role.empty()) std::cout << "the role " << options.app_role << " may call its functions\n";
  return kOk;
}

int status(const Options& options) {
  const postgres::SchemaStatus status = postgres::schema_status(options.store);
  if (!status.version) {
    std::cout << "there is no schema stet; run: stet schema apply --store URL\n";
    return kFailed;
  }
  std::cout << "schema stet, version " << *status.version << " (this binary works with " << postgres::kSchemaVersion << "), "
            << status.partitions << " partitions\n";
  for (const std::string& missing : status.missing) std::cout << "missing: " << missing << '\n';
  return *status.version == postgres::kSchemaVersion && status.missing.empty() ? kOk : kFailed;
}

void add_shape(CLI::App& command, Options& options) {
  command
      .add_option("--partitions", options.partitions, "how many partitions the operations have, by the hash of their scope; for good [16]")
      ->check(CLI::Range(1, postgres::kMostPartitions));
  command.add_option("--app-role", options.app_role, "a role that may then call the functions for services, and see no table")
      ->type_name("NAME")
      ->check([](const std::string& role) {  // quoted or not, PostgreSQL reads it as everybody
        return role == "public" ? std::string("public is everybody who can connect; name a role") : std::string();
      });
}

using Shared = std::shared_ptr<Options>;

void add_on_server(CLI::App& command, const Shared& options, Run& run, int (*work)(const Options&)) {
  command.add_option("--store", options->store, "postgresql://…, as a role that owns the database or the schema")
      ->type_name("URL")
      ->envname("STET_STORE")
      ->required();
  command.callback([options, &run, work] { run = [options, work] { return on_server(*options, work); }; });
}

}  // namespace

void add_schema(CLI::App& app, Run& run) {
  CLI::App* schema = app.add_subcommand("schema", "the tables and functions in a database: prints, applies, looks");
  schema->require_subcommand(1);
  schema->footer("Example: stet schema apply --store postgresql://localhost/app --app-role app");
  const Shared options = std::make_shared<Options>();

  CLI::App* prints = schema->add_subcommand("print", "prints the schema, for your own migration tool");
  prints->add_option("ENGINE", options->engine, "postgres; or sqlite, for the C++ library in a file of your own")
      ->required()
      ->check(CLI::IsMember({"postgres", "sqlite"}));
  add_shape(*prints, *options);
  prints->footer("Example: stet schema print postgres > migrations/20_stet.sql");
  prints->callback([options, &run] { run = [options] { return print(*options); }; });

  CLI::App* applies = schema->add_subcommand("apply", "creates the schema where there is none, in one transaction");
  add_on_server(*applies, options, run, &apply);
  add_shape(*applies, *options);
  applies->footer("Example: stet schema apply --store postgresql://localhost/app --app-role app");

  CLI::App* looks = schema->add_subcommand("status", "says which version is there, and what is missing");
  add_on_server(*looks, options, run, &status);
  looks->footer("Example: stet schema status --store postgresql://localhost/app");
}

}  // namespace stet::app
