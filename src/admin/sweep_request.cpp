#include "admin/sweep_request.hpp"

#include <boost/json/parse.hpp>
#include <boost/json/value.hpp>

namespace stet::admin {

Expected<command::Sweep::Clock, std::string> parse_sweep(std::string_view json) {
  if (json.empty()) return command::Sweep::Clock::checked;
  boost::system::error_code error;
  const boost::json::value body = boost::json::parse({json.data(), json.size()}, error);
  if (error || !body.is_object()) return unexpected(std::string("The body wants to be a JSON object."));
  auto clock = command::Sweep::Clock::checked;
  for (const auto& [name, value] : body.get_object()) {
    if (name != "trust_clock" || !value.is_bool()) {
      return unexpected(std::string("The body has one member, `trust_clock`, which is true or false."));
    }
    if (value.get_bool()) clock = command::Sweep::Clock::trusted;
  }
  return clock;
}

}  // namespace stet::admin
