#pragma once
// After a 101: bytes both ways until one side ends (RFC 9110 section 7.8). Never before the upstream has agreed.

#include "gateway/session.hpp"
#include "gateway/upstream_pool.hpp"
#include "http/message.hpp"

namespace stet::gateway {

Task<void> tunnel(Session&, Request&, UpstreamLinkPtr, const http::ResponseHead& switched);

}  // namespace stet::gateway
