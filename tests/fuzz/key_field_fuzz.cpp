// The Idempotency-Key field: what is accepted is a key, and both of its spellings are read back as the same
// one.

#include <cstdint>
#include <cstdlib>

#include "identify/key_field.hpp"

using namespace stet::identify;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto key = parse_key_field({reinterpret_cast<const char*>(data), size});
  if (!key) {
    if (key.error().empty()) std::abort();
    return 0;
  }
  if (key->empty() || key->size() > kMaxKey) std::abort();
  for (const char c : *key) {
    if (c < 0x20 || c > 0x7e) std::abort();
  }
  const auto quoted = parse_key_field(quoted_form(*key));
  if (!quoted || *quoted != *key) std::abort();
  if (has_bare_form(*key)) {
    const auto bare = parse_key_field(*key);
    if (!bare || *bare != *key) std::abort();
  }
  return 0;
}
