#pragma once
// A request head in one line, for the tests beside this file.

#include <initializer_list>
#include <string>
#include <utility>

#include "http/message.hpp"

namespace stet::identify {

using FieldList = std::initializer_list<std::pair<const char*, std::string>>;

template <class List>
http::Fields fields(const List& list) {
  http::Fields fields;
  for (const auto& [name, value] : list) fields.add(name, value);
  return fields;
}

inline http::RequestHead request(std::string method, std::string target, FieldList list = {}) {
  http::RequestHead head;
  head.method = std::move(method);
  head.target = std::move(target);
  head.fields = fields(list);
  return head;
}

}  // namespace stet::identify
