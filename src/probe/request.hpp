#pragma once
// What the probe sends: a request as data, and the template that a fresh one is minted from.

#include <cstdint>
#include <string>
#include <string_view>

#include "stet/error.hpp"
#include "stet/record.hpp"

namespace stet::probe {

enum class Scheme : std::uint8_t { http, https };

struct Url {
  Scheme scheme = Scheme::http;
  std::string host;  // without the brackets of an IPv6 literal
  std::uint16_t port = 80;
  std::string target = "/";  // path and query, as sent

  std::string authority() const;  // as in Host: the port only where it is not the scheme's own
  std::string text() const;
};
Expected<Url, std::string> parse_url(std::string_view);

// "http://host/a" as it is; "/a" on the host of `base`.
Expected<Url, std::string> resolve_url(std::string_view, const Url& base);

struct Request {
  std::string method = "POST";
  Url url;
  Headers headers;  // without Host, Content-Length and the key header's own line
  std::string body;
};

bool same_name(std::string_view, std::string_view);  // field names: ASCII, any case
const std::string* find_header(const Headers&, std::string_view name);
void set_header(Headers&, std::string_view name, std::string value);  // one line of that name is left
void remove_header(Headers&, std::string_view name);

bool is_json(const Request&);

// The bytes of an HTTP/1.1 request, framed by Content-Length.
std::string serialize(const Request&);

// Replaces {{uuid}} and {{n}} in the target, the header values and the body. All places of one minted request
// get the same values, so that a retry of it is the same bytes.
class Minter {
 public:
  Minter();
  Request mint(const Request& pattern);

 private:
  std::int64_t next_;
};

std::string random_uuid();                    // version 4
std::string random_word(std::size_t length);  // lower-case letters and digits

// RFC 3986 section 2.1. Template marks ({{uuid}}) stay as they are where they are filled in later.
enum class Marks : std::uint8_t { encode, keep };
std::string percent_encoded(std::string_view text, Marks marks);

}  // namespace stet::probe
