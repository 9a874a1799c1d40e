#include <unistd.h>

#include <iostream>

#include "command.hpp"
#include "config/route_table.hpp"
#include "operators.hpp"
#include "stores/open.hpp"

namespace stet::app {
namespace {

namespace json = boost::json;

WallTime now() {
  return std::chrono::floor<milliseconds>(std::chrono::system_clock::now());
}

// What a store could not do is the environment's fault; what it refused to read is said as it is.
Refused refused(const Store::Failed& failed) {
  return {kEnvironment, "the store: " + failed.what};
}

class OnStore : public Operators {
 public:
  OnStore(std::unique_ptr<Store> store, std::shared_ptr<const config::Config> config)
      : store_(std::move(store)), config_(std::move(config)) {}

  Answered<json::object> list(const ListRequest& request) override {
    try {
      return parse_object(admin::page_json(store_->list(request.filter, request.limit, request.cursor)));
    } catch (const StoreError& error) {
      // A list writes nothing: what the store refused is what it was asked with.
      if (error.kind() != StoreFailure::not_written || request.cursor.empty()) throw;
      return unexpected<Refused>({kUsage, std::string("--cursor: ") + error.what()});
    }
  }

  Answered<json::object> show(const OperationId& id) override {
    const auto record = store_->find(id);
    if (!record) return no_operation();
    return parse_object(admin::operation_json(*record, admin::Detail::whole));
  }

  Answered<json::object> settle(const OperationId& id, const admin::SettleRequest& request) override {
    const auto record = store_->find(id);
    if (!record) return no_operation();
    const config::Route& route = config::RouteTable(*config_).find(record->method, record->path);
    auto plan = admin::plan_settle(*record, request, now(), route.policy.completion_timeout);
    if (!plan) return unexpected<Refused>({kFailed, std::string(admin::explain(plan.error()))});
    const Store::Outcome outcome = execute(std::move(*plan));
    if (const auto* failed = std::get_if<Store::Failed>(&outcome))
      return unexpected<Refused>(refused(*failed));
    if (!std::holds_alternative<result::Ok>(std::get<Result>(outcome)))
      return unexpected<Refused>({kFailed, "the operation has moved on meanwhile; look at it again"});
    if (const auto after = store_->find(id))
      return parse_object(admin::operation_json(*after, admin::Detail::line));
    json::object gone;
    gone["id"] = id.text();
    gone["state"] = "released";
    return gone;
  }

  Answered<json::object> sweep(command::Sweep::Clock clock) override {
    command::Sweep sweep;
    sweep.clock = clock;
    result::Swept total;
    while (true) {
      const Store::Outcome outcome = execute(sweep);
      if (const auto* failed = std::get_if<Store::Failed>(&outcome))
        return unexpected<Refused>(refused(*failed));
      const auto* swept = std::get_if<result::Swept>(&std::get<Result>(outcome));
      if (!swept) return unexpected<Refused>({kEnvironment, "the store has not swept"});
      total.expired += swept->expired;
      total.removed += swept->removed;
      total.clock = swept->clock;
      if (!swept->more) return parse_object(admin::swept_json(total));
    }
  }

 private:
  static Answered<json::object> no_operation() {
    return unexpected<Refused>({kFailed, "no operation has this id: it was released, swept, or never there"});
  }

  Store::Outcome execute(Command command) { return store_->execute({&command, 1}).at(0); }

  std::unique_ptr<Store> store_;
  std::shared_ptr<const config::Config> config_;
};

}  // namespace

std::unique_ptr<Operators> on_store(const std::string& url, std::shared_ptr<const config::Config> config) {
  // Looking must not make a store where there is none.
  if (const auto path = stores::sqlite_path(url); path && ::access(path->c_str(), F_OK) != 0)
    throw StoreError(StoreFailure::incompatible, "there is no store at " + *path);
  const config::StoreOptions& wanted = config->store_options;
  stores::OpenOptions options;
  options.durability =
      wanted.durability == config::Durability::full ? stores::Durability::full : stores::Durability::os;
  options.free_space_floor = wanted.free_space_floor;
  options.ballast = wanted.ballast;
  options.encryption_key = wanted.encryption_key;
  options.missing = stores::OpenOptions::Missing::refuse;
  options.notice = [](std::string_view line) { std::cerr << line << '\n'; };
  return std::make_unique<OnStore>(stores::open_store(url, options), std::move(config));
}

}  // namespace stet::app
