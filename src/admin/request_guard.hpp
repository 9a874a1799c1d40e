#pragma once
// Who may talk to the admin port. It can settle operations, so a web page that an operator happens to have
// open must not reach it: neither by sending to it across sites, nor by a name of its own that resolves to
// our address.

#include <optional>
#include <string_view>

#include "admin/admin_request.hpp"
#include "config/config.hpp"

namespace stet::admin {

// The answer that refuses the request; nothing when it may go on. Checks, in this order:
//   Host    an IP address, localhost or the configured name (with an admin_token any name: a page cannot know
//   it) Origin  when a browser sends one, this very server's token   `Authorization: Bearer …` where one is
//   configured; /livez and /readyz say nothing that needs it changes (POST) only as application/json, which
//   no page can send across sites without asking first
std::optional<Answer> refuse(const config::Config&, const AdminRequest&);

// "example.org" of "example.org:9090", "::1" of "[::1]:9090".
std::string_view host_name(std::string_view host_and_port);

// Takes the same time wherever the two differ.
bool same_secret(std::string_view, std::string_view);

}  // namespace stet::admin
