#pragma once
// An OpenAPI document as a tree, whether it was written in YAML or JSON, and its references.

#include <boost/json/value.hpp>
#include <string>

#include "stet/error.hpp"

namespace stet::probe {

Expected<boost::json::value, std::string> load_document(const std::string& text);

class Document {
 public:
  explicit Document(const boost::json::value& root) : root_(root) {}

  // What a reference within the document points at, at the end of a chain of them; anything else as it is.
  // Null for a reference that leads nowhere, to another file or in a circle.
  const boost::json::object* resolve(const boost::json::value&) const;
  const boost::json::value& root() const { return root_; }

 private:
  const boost::json::value& root_;
};

// A member, or null: of an object that may itself be null.
const boost::json::value* member(const boost::json::object*, std::string_view name);
std::string text_of(const boost::json::value*);  // a string's content; "" for anything else

}  // namespace stet::probe
