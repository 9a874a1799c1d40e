#pragma once
// Operators' work on records, either through the admin port of a running gateway or on the store itself when
// none runs. Both speak the operations JSON of docs/operating.md, so that what is shown does not depend on
// the way.

#include <boost/json/object.hpp>
#include <memory>
#include <optional>
#include <string>

#include "admin/operations_json.hpp"
#include "config/config.hpp"
#include "stet/error.hpp"

namespace stet::app {

// Why there is no answer; the exit code of the command.
struct Refused {
  int exit_code;
  std::string what;
};
template <class T>
using Answered = Expected<T, Refused>;

struct ListRequest {
  Filter filter;
  std::size_t limit = 100;
  std::string cursor;
};

class Operators {
 public:
  virtual ~Operators() = default;
  // One page; `limit` is at most 1000.
  virtual Answered<boost::json::object> list(const ListRequest&) = 0;
  virtual Answered<boost::json::object> show(const OperationId&) = 0;
  // The operation as it is afterwards, or its id and "released".
  virtual Answered<boost::json::object> settle(const OperationId&, const admin::SettleRequest&) = 0;
  virtual Answered<boost::json::object> sweep(command::Sweep::Clock) = 0;

  // As many as the limit says, over as many pages as that takes.
  Answered<boost::json::object> collect(ListRequest);
  // The id of the operation that a person named by its id or its key.
  Answered<OperationId> resolve(const std::string& name, const std::optional<std::string>& scope);
};

std::unique_ptr<Operators> through_admin_port(const config::Endpoint&, std::string token);
// Throws StoreError. Holds the store as long as it lives.
std::unique_ptr<Operators> on_store(const std::string& url, std::shared_ptr<const config::Config>);

Answered<boost::json::object> parse_object(const std::string& json);

}  // namespace stet::app
