#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <sstream>

#include "config/reading.hpp"

namespace stet::config {
namespace {

// A key, a token or a certificate; what is larger is another file.
constexpr std::size_t kMaxSecretFile = 1 << 20;

Expected<std::string, std::string> read_secret_file(const std::string& path) {
  struct stat status{};
  if (::stat(path.c_str(), &status) != 0)
    return unexpected(path + " cannot be read: " + std::strerror(errno));
  if (!S_ISREG(status.st_mode) && !S_ISFIFO(status.st_mode)) return unexpected(path + " is not a file");
  if (static_cast<std::size_t>(status.st_size) > kMaxSecretFile)
    return unexpected(path + " is larger than 1 MiB");
  std::ifstream file(path, std::ios::binary);
  std::ostringstream content;
  content << file.rdbuf();
  if (!file) return unexpected(path + " cannot be read: " + std::strerror(errno));
  std::string text = std::move(content).str();
  if (text.ends_with('\n')) text.pop_back();
  if (text.ends_with('\r')) text.pop_back();
  return text;
}

// "evn:NAME" is hardly anybody's secret.
std::string_view misspelt_scheme(std::string_view text) {
  constexpr std::array<std::string_view, 2> kSchemes{"env", "file"};
  const std::size_t colon = text.find(':');
  if (colon == text.npos || colon < 3 || colon > 5) return {};
  for (const std::string_view scheme : kSchemes) {
    if (lower(text.substr(0, colon)) == scheme) return scheme;
    const std::string written = lower(text.substr(0, colon));
    if (std::is_permutation(written.begin(), written.end(), scheme.begin(), scheme.end())) return scheme;
  }
  return {};
}

}  // namespace

std::optional<std::string> resolve(Reading& reading, const Said& said, Publicity publicity) {
  std::string result;
  if (said.text.starts_with("env:")) {
    const std::string name = said.text.substr(4);
    if (name.empty()) {
      reading.error(said.place, "\"env:\" names no variable: \"env:NAME\" was meant");
      return std::nullopt;
    }
    auto value = reading.environment(name);
    if (!value || value->empty()) {
      reading.error(said.place, "the environment variable " + name + (value ? " is empty" : " is not set"));
      return std::nullopt;
    }
    result = std::move(*value);
  } else if (said.text.starts_with("file:")) {
    auto content = read_secret_file(said.text.substr(5));
    if (!content) {
      reading.error(said.place, content.error());
      return std::nullopt;
    }
    if (content->empty()) {
      reading.error(said.place, said.text.substr(5) + " is empty");
      return std::nullopt;
    }
    result = std::move(*content);
  } else if (said.text.empty()) {
    reading.error(said.place, "an empty secret; \"env:NAME\" or \"file:PATH\" was meant");
    return std::nullopt;
  } else if (const std::string_view scheme = misspelt_scheme(said.text); !scheme.empty()) {
    reading.error(said.place, "\"" + said.text.substr(0, said.text.find(':') + 1) +
                                  "\" is not known; did you mean \"" + std::string(scheme) + ":\"?");
    return std::nullopt;
  } else {
    if (publicity == Publicity::secret && reading.exposure == Exposure::world_readable)
      reading.warning(
          said.place,
          "a secret in plain text in a file that everybody can read; \"env:NAME\" or \"file:PATH\", or "
          "chmod o-r, was meant");
    if (publicity == Publicity::secret && reading.exposure == Exposure::command_line)
      reading.warning(
          said.place,
          "a secret on the command line is seen by everybody who can list processes; \"env:NAME\" or "
          "\"file:PATH\" was meant");
    result = said.text;
  }
  return result;
}

std::optional<std::string> read_secret(Reading& reading, const Value& value) {
  if (!reading.is(value, Value::Kind::string, "\"env:NAME\"")) return std::nullopt;
  return resolve(reading, {value.text, value.place}, Publicity::secret);
}

}  // namespace stet::config
