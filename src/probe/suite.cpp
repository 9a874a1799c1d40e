#include <toml++/toml.h>

#include <map>
#include <variant>

#include "probe/options.hpp"

namespace stet::probe {
namespace {

using Text = std::string Options::*;
using MaybeText = std::optional<std::string> Options::*;
using Texts = std::vector<std::string> Options::*;
using Number = std::optional<std::int64_t> Options::*;
using Verify = TlsSettings::Verify Options::*;

const std::map<std::string_view, std::variant<Text, MaybeText, Texts, Number, Verify>>& keys() {
  static const std::map<std::string_view, std::variant<Text, MaybeText, Texts, Number, Verify>> table = {
      {"name", &Options::name},
      {"request", &Options::request},
      {"headers", &Options::headers},
      {"body", &Options::data},
      {"curl", &Options::curl},
      {"openapi", &Options::openapi},
      {"operations", &Options::operations},
      {"server", &Options::server},
      {"key_header", &Options::key_header},
      {"ignore_headers", &Options::ignored_headers},
      {"other", &Options::other},
      {"other_data", &Options::other_data},
      {"other_auth", &Options::other_auth},
      {"bad_body", &Options::bad_body},
      {"other_body", &Options::other_body},
      {"effects", &Options::effects},
      {"count", &Options::count},
      {"count_header", &Options::count_header},
      {"effects_cmd", &Options::effects_cmd},
      {"effects_sink", &Options::effects_sink},
      {"kill", &Options::kill},
      {"start", &Options::start},
      {"exec", &Options::exec},
      {"concurrency", &Options::concurrency},
      {"rounds", &Options::rounds},
      {"timeout", &Options::timeout},
      {"request_timeout", &Options::request_timeout},
      {"patience", &Options::patience},
      {"settle", &Options::settle},
      {"cacert", &Options::cacert},
      {"verify_tls", &Options::verify},
      {"checks", &Options::only},
      {"skip", &Options::skip},
  };
  return table;
}

std::string place(const std::string& file, const toml::source_region& where) {
  return file + ":" + std::to_string(where.begin.line) + ":" + std::to_string(where.begin.column) + ": ";
}

class SuiteReader {
 public:
  explicit SuiteReader(const std::string& file) : file_(file) {}

  void read(const toml::table& table, Options& options) {
    for (const auto& [key, value] : table) {
      const auto found = keys().find(key.str());
      if (found == keys().end()) {
        wrong(value, "there is no key '" + std::string(key.str()) + "'");
        continue;
      }
      std::visit([&, name = key.str()](auto field) { take(name, value, options.*field); }, found->second);
    }
  }

  void wrong(const toml::node& node, const std::string& what) {
    mistakes_ += place(file_, node.source()) + what + "\n";
  }
  const std::string& mistakes() const { return mistakes_; }

 private:
  void take(std::string_view name, const toml::node& node, std::string& into) {
    if (const auto text = node.value_exact<std::string>()) {
      into = *text;
    } else {
      wrong(node, std::string(name) + " is a string");
    }
  }
  void take(std::string_view name, const toml::node& node, std::optional<std::string>& into) {
    std::string text;
    take(name, node, text);
    into = text;
  }
  void take(std::string_view name, const toml::node& node, std::optional<std::int64_t>& into) {
    into = node.value_exact<std::int64_t>();
    if (!into) wrong(node, std::string(name) + " is a whole number");
  }
  void take(std::string_view name, const toml::node& node, TlsSettings::Verify& into) {
    const auto yes = node.value_exact<bool>();
    if (!yes) wrong(node, std::string(name) + " is true or false");
    into = yes.value_or(true) ? TlsSettings::Verify::yes : TlsSettings::Verify::no;
  }
  void take(std::string_view name, const toml::node& node, std::vector<std::string>& into) {
    into.clear();
    const toml::array* list = node.as_array();
    if (list == nullptr) {
      std::string one;
      take(name, node, one);
      into.push_back(one);
      return;
    }
    for (const toml::node& item : *list) {
      std::string one;
      take(name, item, one);
      into.push_back(one);
    }
  }

  const std::string& file_;
  std::string mistakes_;
};

}  // namespace

Expected<std::vector<Options>, std::string> read_suite(const std::string& file) {
  const auto text = read_file(file);
  if (!text) return tl::unexpected(text.error());
  toml::table document;
  try {
    document = toml::parse(*text, file);
  } catch (const toml::parse_error& error) {
    return tl::unexpected(place(file, error.source()) + std::string(error.description()));
  }
  SuiteReader reader(file);
  Options defaults;
  if (const toml::table* table = document["defaults"].as_table()) reader.read(*table, defaults);
  std::vector<Options> suite;
  for (const auto& [key, node] : document) {
    if (key.str() == "defaults" && node.is_table()) continue;
    const toml::array* list = node.as_array();
    if (key.str() != "api" || list == nullptr) {
      reader.wrong(node,
                   "'" + std::string(key.str()) + "': a suite has [defaults] and one [[api]] for each API");
      continue;
    }
    for (const toml::node& item : *list) {
      Options options = defaults;
      if (const toml::table* table = item.as_table()) {
        reader.read(*table, options);
        // The whole error of settings_of names the word; the line of the table says where to look.
        if (const auto settings = settings_of(options); !settings) reader.wrong(item, settings.error());
      } else {
        reader.wrong(item, "api is a list of tables: write [[api]]");
      }
      suite.push_back(std::move(options));
    }
  }
  if (!reader.mistakes().empty()) return tl::unexpected(reader.mistakes());
  if (suite.empty()) return tl::unexpected(file + ": there is no [[api]]");
  return suite;
}

}  // namespace stet::probe
