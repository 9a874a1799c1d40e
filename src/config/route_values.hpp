#pragma once
// Readers of a route's richer keys.

#include <string>

#include "config/keys.hpp"

namespace stet::config {

void read_match(Reading&, const Value&, RouteDraft&);
void read_key_header(Reading&, const Value&, RouteDraft&);
void read_key_from(Reading&, const Value&, RouteDraft&);
void read_scope(Reading&, const Value&, RouteDraft&);
void read_url_text(Reading&, const Value&, std::string& out);
void read_statuses(Reading&, const Value&, RouteDraft&, StatusMeaning);
void read_fingerprint_secrets(Reading&, const Value&, RouteDraft&);

}  // namespace stet::config
