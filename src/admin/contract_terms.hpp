#pragma once
// What a route promises, in words that both forms of the contract share. Prose marks code with backquotes.

#include <string>
#include <vector>

#include "config/config.hpp"

namespace stet::admin {

// The methods of a route that treat the key alike. For [defaults]: the writing methods.
struct KeyRule {
  config::KeyMode mode = config::KeyMode::optional;
  std::vector<std::string> methods;
};
std::vector<KeyRule> key_rules(const config::Route&);
bool takes_keys(const config::Route&);
std::string_view name(config::KeyMode);

// "4xx" where a whole class is meant, single statuses where they differ from it.
struct StatusLists {
  std::vector<std::string> recorded;
  std::vector<std::string> released;
  std::vector<std::string> unknown;
};
StatusLists status_lists(const StatusTable&);

// Where a caller puts the key, and what makes two callers the same.
std::string key_place(const config::Route&);
std::string caller_words(const config::Route&);
// The kinds of the scope's parts, without the names of trusted headers. Empty: nothing is configured.
std::vector<std::string> scope_kinds(const config::Route&);

std::string duration_words(milliseconds);  // "24 hours", "90 seconds", "forever"

}  // namespace stet::admin
