#pragma once
// A value that a JSON schema accepts, as far as one can be made up.

#include "probe/openapi_document.hpp"

namespace stet::probe {

// Prefers, in this order: const, example, the first of examples, default, the first of enum; else makes one
// of the type: required members only, the shortest allowed string (format and lengths respected, a pattern
// not), the smallest number.
boost::json::value sample(const Document&, const boost::json::value& schema);

// The value given with a parameter, header or media type, or a sample of its schema.
boost::json::value example_of(const Document&, const boost::json::object& holder);

}  // namespace stet::probe
