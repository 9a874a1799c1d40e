#pragma once
// What the tests of the configuration share.

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "config/load.hpp"

namespace stet::config::testing {

// A public key on P-256, made for these tests.
inline constexpr const char* kPublicKey = R"(-----BEGIN PUBLIC KEY-----
MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAEn9l//I95sIeFUIH5ZkaJU1ZyIqI3
qddvS8AEn1pMWQEXmrcQ87TCVlaaNFfJRhIPhXjf3FoZyozdQq1FI4Vuuw==
-----END PUBLIC KEY-----
)";

inline Environment environment(std::map<std::string, std::string> variables) {
  return [variables = std::move(variables)](const std::string& name) -> std::optional<std::string> {
    const auto found = variables.find(name);
    if (found == variables.end()) return std::nullopt;
    return found->second;
  };
}

// Of a file "stet.toml" with this text, and nothing else.
inline Expected<Loaded, std::vector<Finding>> load_only(std::string_view text,
                                                        std::map<std::string, std::string> variables = {}) {
  return load_text(text, "stet.toml", {{}, environment(std::move(variables))});
}

inline std::vector<std::string> texts(const std::vector<Finding>& findings) {
  std::vector<std::string> lines;
  for (const Finding& finding : findings) lines.push_back(finding.text());
  return lines;
}

inline std::vector<std::string> errors_of(std::string_view text) {
  const auto loaded = load_only(text);
  return loaded ? std::vector<std::string>{} : texts(loaded.error());
}

// A directory that goes away with the test.
class Directory {
 public:
  Directory() {
    std::string name = (std::filesystem::temp_directory_path() / "stet-config-XXXXXX").string();
    path_ = ::mkdtemp(name.data());
  }
  ~Directory() { std::filesystem::remove_all(path_); }
  Directory(const Directory&) = delete;
  Directory& operator=(const Directory&) = delete;
  std::string file(const std::string& name) const { return (path_ / name).string(); }

 private:
  std::filesystem::path path_;
};

}  // namespace stet::config::testing
