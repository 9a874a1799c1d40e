#pragma once
// For tests of engines: commands about keys of one scope, and what they came to.

#include <gtest/gtest.h>

#include <optional>
#include <string>

#include "stet/store.hpp"

namespace stet::stores {

// With a new nonce each.
inline command::Claim claim_of(const std::string& key) {
  command::Claim c;
  c.scope = "scope";
  c.key = key;
  c.nonce = Nonce::random();
  c.fingerprint.recipe = "v1";
  c.method = "POST";
  c.path = "/charges";
  c.lease = std::chrono::seconds(30);
  return c;
}

// Of the first attempt.
inline Token token_of(const command::Claim& c) {
  return {c.scope, c.key, c.nonce, 1};
}

inline Answer answer_of(const std::string& key) {
  return {201, {{"Location", "/charges/" + key}}, "the answer to " + key, Kept::whole};
}

inline command::Complete completion_of(const command::Claim& c) {
  return {token_of(c), answer_of(c.key), std::nullopt};
}

inline Store::Outcome run(Store& store, const Command& command) {
  return store.execute({&command, 1}).front();
}

// The result, when it is of this kind.
template <class R>
const R* as(const Store::Outcome& outcome) {
  const auto* result = std::get_if<Result>(&outcome);
  return result != nullptr ? std::get_if<R>(result) : nullptr;
}

inline std::optional<StoreFailure> failure(const Store::Outcome& outcome) {
  const auto* failed = std::get_if<Store::Failed>(&outcome);
  return failed != nullptr ? std::optional(failed->kind) : std::nullopt;
}

}  // namespace stet::stores
