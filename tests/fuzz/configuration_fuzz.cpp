// Configurations: whatever the bytes, an answer comes; each finding has a place and a text on one line; and
// what was accepted once is accepted again. Bytes before the first NUL are a --set.

#include <cstdint>
#include <cstdlib>
#include <optional>
#include <string>
#include <string_view>

#include "config/load.hpp"

namespace {

using namespace stet::config;

void check(bool holds) {
  if (!holds) std::abort();
}

std::optional<std::string> nothing_set(const std::string&) {
  return std::nullopt;
}

void check_findings(const std::vector<Finding>& findings) {
  for (const Finding& finding : findings) {
    check(!finding.what.empty());
    check(!finding.place.source.empty());
    check(finding.place.source != "f" || finding.place.line > 0);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  if (bytes.find("file:") != bytes.npos) return 0;  // what this machine has is no input of ours
  Sources sources{{}, &nothing_set};
  std::string_view text = bytes;
  if (const std::size_t nul = bytes.find('\0'); nul != bytes.npos) {
    sources.flags.set.push_back(std::string(bytes.substr(0, nul)));
    text = bytes.substr(nul + 1);
  }
  const auto loaded = load_text(text, "f", sources);
  if (!loaded) {
    check(!loaded.error().empty());
    check_findings(loaded.error());
    return 0;
  }
  check_findings(loaded->warnings);
  check(!loaded->config->upstream.empty());
  check(loaded->config->drain_time().count() >= 0);
  const auto again = load_text(text, "f", sources);
  check(again.has_value());
  check(again->config->routes.size() == loaded->config->routes.size());
  return 0;
}
