#pragma once
// Every key of the configuration: its name, where it may stand, its default, an example, and how it is read.
// The help texts, the check of docs/configuration.md and the reader all go by this one list.

#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "config/reading.hpp"

namespace stet::config {

enum class Where : std::uint8_t { top, defaults_and_route, route };

struct KeyInfo {
  std::string_view name;
  Where where;
  std::string_view default_value;  // in TOML; empty: none
  std::string_view example;        // in TOML
  std::string_view meaning;
};
std::vector<KeyInfo> all_keys();  // but those of a later release

// Keys that are part of the language and do nothing yet: an error that says so.
struct LaterKey {
  std::string_view name;
  Where where;
  std::string_view what;
};
std::span<const LaterKey> later_keys();

// ---- the top level ----
struct TopDraft {
  Config config;
  std::map<std::string, Place, std::less<>> said;  // where each key was said last
};
struct TopKey {
  KeyInfo info;
  void (*read)(Reading&, const Value&, TopDraft&);
};
std::span<const TopKey> top_keys();

// ---- [defaults] and [[route]] ----
// The statuses of one of the lists `record`, `release`, `unknown`.
struct StatusList {
  StatusMeaning meaning;
  std::vector<int> statuses;  // 100…599, or 1…5 for a class
};
struct RouteDraft {
  Route route;
  std::map<std::string, Place, std::less<>> said;  // where each key was said, here or in [defaults]
  std::map<std::string, Place, std::less<>> own;   // the part of it said here
  std::map<std::string, StatusList> lists;         // by key
  Place place;
};
struct RouteKey {
  KeyInfo info;
  void (*read)(Reading&, const Value&, RouteDraft&);
};
std::span<const RouteKey> route_keys();

}  // namespace stet::config
