// The canonical form of multipart/form-data: malformed bodies leave nothing behind, and parts put between
// other boundaries keep their form.

#include <cstdint>
#include <cstdlib>
#include <vector>

#include "identify/media_type.hpp"
#include "identify/multipart.hpp"

using namespace stet::identify;

namespace {

std::string build(const std::vector<std::string_view>& contents, const std::string& boundary) {
  std::string body;
  for (const auto content : contents) {
    body.append("--").append(boundary).append("\r\nContent-Disposition: form-data; name=\"x\"\r\n\r\n");
    body.append(content).append("\r\n");
  }
  return body.append("--").append(boundary).append("--\r\n");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  std::string form;
  if (!append_canonical_multipart(form, text, "b") && !form.empty()) std::abort();
  static_cast<void>(parameter(text, "boundary"));

  std::vector<std::string_view> contents;
  for (std::size_t at = 0; at <= text.size();) {
    const auto end = std::min(text.find('|', at), text.size());
    contents.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  const std::string one = "a-boundary-that-no-content-has-1";
  const std::string two = "another(boundary)";
  if (text.find(one) != std::string_view::npos || text.find(two) != std::string_view::npos) return 0;
  std::string first;
  std::string second;
  if (!append_canonical_multipart(first, build(contents, one), one)) std::abort();
  if (!append_canonical_multipart(second, build(contents, two), two)) std::abort();
  if (first != second) std::abort();
  contents.push_back("");
  std::string longer;
  if (!append_canonical_multipart(longer, build(contents, one), one) || longer == first) std::abort();
  return 0;
}
