#pragma once
// How a fingerprint was made, as one line that can make it again: "v1", then "hmac:<key id>",
// "only:<pointers>", "ignore:<pointers>", "headers:<names>", each only where it applies, lists sorted,
// percent-encoded, with commas. A change of anything that is hashed, or of how, is a new version; old
// versions stay readable.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "config/config.hpp"
#include "stet/identity.hpp"

namespace stet::identify {

struct RecipeParts {
  std::string key_id;  // of the secret; empty: a plain SHA-256
  std::vector<std::string> only;
  std::vector<std::string> ignore;
  std::vector<std::string> headers;  // lower case
};

// By these settings: sorted and each once, so that a reordered list is the same recipe.
RecipeParts recipe_parts(const config::FingerprintSettings&);

Recipe write_recipe(const RecipeParts&);
// nothing: another version, or not one that write_recipe wrote.
std::optional<RecipeParts> read_recipe(std::string_view);

// Names a secret without telling it: 64 bits of its HMAC over a constant.
std::string key_id(std::string_view secret);

}  // namespace stet::identify
