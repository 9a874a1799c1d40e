#pragma once
// Header lines as the jsonb that services in any language write and read: [["Name", "value"], …].

#include <optional>
#include <string>
#include <string_view>

#include "stet/record.hpp"
#include "stores/text.hpp"

namespace stet::stores::postgres {

// Nothing when a name or a value is no text; such headers are kept as bytes (stores/header_bytes.hpp).
std::optional<std::string> to_json(const Headers& headers);

// As PostgreSQL prints a jsonb. Nothing when it is not an array of pairs of strings.
std::optional<Headers> headers_of_json(std::string_view json);

}  // namespace stet::stores::postgres
