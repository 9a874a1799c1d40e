#pragma once
// What an answer of the reconcile URL says. Pure.

#include "gateway/subrequest.hpp"
#include "stet/exchange.hpp"

namespace stet::gateway {

AskVerdict ask_verdict(const Subanswer&, const config::Route&);

}  // namespace stet::gateway
