#pragma once
// Encryption at rest for what the upstream said: answers (headers and body) are sealed with AES-256-GCM
// before they reach the engine and opened on their way out. Identity, fingerprint and status stay readable.

#include <array>
#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "stet/store.hpp"

namespace stet::stores {

using EncryptionKey = std::array<std::uint8_t, 32>;

// The first key seals; all open, so that a key can be rotated while old answers live. Without any key,
// answers pass as they are and a sealed one is `corrupt` instead of being replayed as gibberish: open_store
// always wraps. An answer that does not open (another key, flipped bytes, another record's answer) is
// Failed{corrupt}.
std::unique_ptr<Store> seal(std::unique_ptr<Store> inner, std::vector<EncryptionKey> keys);

// Throws StoreError{incompatible} unless the text is 32 bytes.
EncryptionKey encryption_key(std::string_view bytes);

}  // namespace stet::stores
