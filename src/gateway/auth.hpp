#pragma once
// scope = ["auth"]: who the caller is, asked of auth.url before every keyed answer (docs/http.md, "The scope").

#include <memory>
#include <optional>
#include <string>
#include <variant>

#include "gateway/request.hpp"
#include "gateway/station.hpp"
#include "stet/shown.hpp"

namespace stet::gateway {

struct PrincipalName {
  std::optional<std::string> name;  // none: it let the caller in without an X-Principal
};
struct AuthUnavailable {};
// A Response is the authority's own refusal, for the caller as it is.
using Principal = std::variant<PrincipalName, Response, AuthUnavailable>;

Task<Principal> ask_principal(Station&, std::shared_ptr<const Request>);
Shown auth_unavailable();

}  // namespace stet::gateway
