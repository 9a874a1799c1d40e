#pragma once
// Requests as curl lines: written for reports, read from what a browser's developer tools copy.

#include <string>
#include <vector>

#include "probe/request.hpp"

namespace stet::probe {

std::string curl_line(const Request&);  // for a POSIX shell (bytes that are not text as $'\x..')

// Method, URL, headers and body of a curl command. What has no bearing on the request is ignored (-s, -i,
// --compressed); what has and is not understood (-F, -K …) is an error that names it. Headers that the probe
// writes itself (lengths, connection, encodings) are left out.
Expected<Request, std::string> parse_curl(const std::string& command);

// The words of a POSIX shell command line: quotes, $'…', escapes, continued lines.
Expected<std::vector<std::string>, std::string> shell_words(const std::string& command);

}  // namespace stet::probe
