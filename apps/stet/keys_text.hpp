#pragma once
// The operations JSON for people.

#include <boost/json/object.hpp>
#include <string>

namespace stet::app {

std::string list_text(const boost::json::object& page);
std::string operation_text(const boost::json::object& operation);
std::string settled_text(const boost::json::object& operation);
std::string swept_text(const boost::json::object& swept);

}  // namespace stet::app
