#pragma once
// The small languages inside the configuration's strings. Errors say what is wrong and what was meant.

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "config/config.hpp"
#include "stet/error.hpp"

namespace stet::config {

enum class Forever : std::uint8_t { refused, allowed };

// "250ms", "24h": a whole number and one of ms s m h d; at most 100 years. kForever where allowed.
Expected<milliseconds, std::string> parse_duration(std::string_view, Forever = Forever::refused);
std::string duration_text(milliseconds);  // the shortest exact spelling: "90s", "2m"

// "10KiB", "1MiB", "1GiB".
Expected<std::uint64_t, std::string> parse_size(std::string_view);
std::string size_text(std::uint64_t);

// "127.0.0.1:8080", "[::1]:0", "localhost:8080".
Expected<Endpoint, std::string> parse_endpoint(std::string_view);
bool is_loopback(std::string_view host);

// "http://host[:port][/path]". The path keeps its query only where one makes sense.
enum class UrlQuery : std::uint8_t { refused, allowed };
Expected<UpstreamUrl, std::string> parse_url(std::string_view, UrlQuery);

// The store's URL, as far as this release can open it.
Expected<std::string, std::string> check_store(std::string_view);
bool is_postgres_store(std::string_view url);

bool is_token(std::string_view);  // RFC 9110 section 5.6.2: a field name, a method
std::string lower(std::string_view);

// RFC 6901; why it is no pointer to a member, or empty.
std::string pointer_error(std::string_view);

// The one of `known` that was probably meant; empty when none is near.
std::string_view nearest(std::string_view written, std::span<const std::string_view> known);
// `a, b or c`, each in double quotes.
std::string alternatives(std::span<const std::string_view>);

}  // namespace stet::config
