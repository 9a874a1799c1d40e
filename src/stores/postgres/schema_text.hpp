#pragma once
// The files of postgres/schema as the build has put them into the binary.

#include <string_view>
#include <vector>

namespace stet::stores::postgres {

const std::vector<std::string_view>& schema_text();  // in the order in which they are run
std::string_view app_role_text();

}  // namespace stet::stores::postgres
