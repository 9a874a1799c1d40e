#pragma once
// What an answer of the reconcile URL says. Pure.

#include "gateway/subrequest.hpp"
#include "stet/exchange.hpp"

namespace stet::gateway {

AskVerdict reconcile_answer(const Subanswer&, const config::Route&);

}  // namespace stet::gateway
