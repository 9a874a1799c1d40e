#include "config/load.hpp"

#include <sys/stat.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <sstream>

#include "config/checks.hpp"
#include "config/promise.hpp"
#include "config/section.hpp"

namespace stet::config {
namespace {

// One source of values. Later ones beat earlier ones.
struct Layer {
  Value table;
  Exposure exposure = Exposure::closed;
};

Value nested(std::string_view dotted, Value value) {
  const std::size_t dot = dotted.find('.');
  const Place place = value.place;
  Value table;
  table.place = place;
  Value inner = dot == dotted.npos ? std::move(value) : nested(dotted.substr(dot + 1), std::move(value));
  table.members.push_back({std::string(dotted.substr(0, dot)), place, std::move(inner)});
  return table;
}

Value list_of(const std::vector<std::string>& texts, const std::string& source) {
  Value list;
  list.kind = Value::Kind::array;
  list.place = {source, 0, 0};
  for (const std::string& text : texts) list.items.push_back(plain_string(text, source));
  return list;
}

std::vector<std::string> split_commas(const std::string& text) {
  std::vector<std::string> parts;
  std::istringstream stream(text);
  for (std::string part; std::getline(stream, part, ',');) {
    while (part.starts_with(' ')) part.erase(0, 1);
    while (part.ends_with(' ')) part.pop_back();
    parts.push_back(part);
  }
  return parts;
}

struct Shortcut {
  std::string_view variable, flag, key;
  std::optional<std::string> Flags::* said;
};
constexpr Shortcut kShortcuts[] = {{"STET_LISTEN", "--listen", "listen", &Flags::listen},
                                   {"STET_ADMIN", "--admin", "admin", &Flags::admin},
                                   {"STET_STORE", "--store", "store", &Flags::store},
                                   {"STET_LOG", "--log", "log.format", &Flags::log}};

std::vector<Layer> layers_above_file(const Sources& sources, Findings& findings) {
  std::vector<Layer> layers;
  const auto variable = [&](std::string_view name) -> std::optional<std::string> {
    auto value = sources.environment(std::string(name));
    if (value && value->empty()) return std::nullopt;  // as good as unset
    return value;
  };
  for (const Shortcut& shortcut : kShortcuts)
    if (auto value = variable(shortcut.variable))
      layers.push_back(
          {nested(shortcut.key, plain_string(std::move(*value), std::string(shortcut.variable)))});
  if (const auto value = variable("STET_UPSTREAM"))
    layers.push_back({nested("upstream", list_of(split_commas(*value), "STET_UPSTREAM"))});
  for (const std::string& setting : sources.flags.set)
    layers.push_back({parse_setting(setting, findings), Exposure::command_line});
  for (const Shortcut& shortcut : kShortcuts)
    if (const auto& value = sources.flags.*shortcut.said)
      layers.push_back({nested(shortcut.key, plain_string(*value, std::string(shortcut.flag)))});
  if (!sources.flags.upstream.empty())
    layers.push_back({nested("upstream", list_of(sources.flags.upstream, "--upstream"))});
  return layers;
}

template <class Key, class Draft>
void read_keys(const Layer& layer, const Value& table, Section section, std::span<const Key> keys,
               Reading& reading, Draft& draft) {
  reading.exposure = layer.exposure;
  for (const Leaf& leaf : leaves(table, section, reading.findings)) {
    for (const Key& key : keys) {
      if (key.info.name != leaf.name) continue;
      reading.key = leaf.name;
      draft.said.insert_or_assign(leaf.name, leaf.value.place);
      if constexpr (requires { draft.own; }) draft.own.insert_or_assign(leaf.name, leaf.value.place);
      key.read(reading, leaf.value, draft);
    }
  }
}

void apply_lists(RouteDraft& draft) {
  // What a route says itself comes last, so that it beats the same status in a list of [defaults].
  for (const bool own : {false, true})
    for (const auto& [key, list] : draft.lists) {
      if (draft.own.contains(key) != own) continue;
      // record = []: that it was done is recorded, and no answer is kept (cases: credentials in stored
      // answers).
      if (list.meaning == StatusMeaning::record && list.statuses.empty()) draft.route.max_response_body = 0;
      for (const int status : list.statuses) {
        if (status < 10)
          draft.route.policy.statuses.set_class(status, list.meaning);
        else
          draft.route.policy.statuses.set_status(status, list.meaning);
      }
    }
}

RouteDraft read_defaults(const std::vector<Layer>& layers, Reading& reading) {
  RouteDraft defaults;
  defaults.route.name = "defaults";
  defaults.route.key_from.text = "header";
  for (const Layer& layer : layers) {
    const Value* table = layer.table.find("defaults");
    if (!table) continue;
    if (table->kind != Value::Kind::table) {
      reading.findings.error(table->place, "defaults: the table [defaults] was meant, once");
      continue;
    }
    read_keys(layer, *table, Section::defaults, route_keys(), reading, defaults);
  }
  return defaults;
}

std::vector<RouteDraft> read_routes(const Layer& layer, const Value& list, const RouteDraft& defaults,
                                    Reading& reading) {
  std::vector<RouteDraft> routes;
  if (list.kind != Value::Kind::array) {
    reading.findings.error(list.place,
                           "route: a list of tables was meant, each of which begins with [[route]]");
    return routes;
  }
  for (const Value& item : list.items) {
    if (item.kind != Value::Kind::table) {
      reading.findings.error(item.place, "route: each is a table, which begins with [[route]]");
      continue;
    }
    RouteDraft route = defaults;
    route.own.clear();
    route.place = item.place;
    read_keys(layer, item, Section::route, route_keys(), reading, route);
    if (!route.own.contains("match"))
      reading.findings.error(
          item.place,
          "match is missing: which requests this route is for, such as match = \"POST /charges\"");
    routes.push_back(std::move(route));
  }
  return routes;
}

Expected<Loaded, std::vector<Finding>> assemble(Sources sources, const std::vector<Layer>& layers,
                                                const Place& whole, Findings& findings) {
  Reading reading{findings, sources.environment, Exposure::closed, {}};
  const bool readable = !findings.any_error();
  TopDraft top;
  for (const Layer& layer : layers) read_keys(layer, layer.table, Section::top, top_keys(), reading, top);
  RouteDraft defaults = read_defaults(layers, reading);
  std::vector<RouteDraft> routes;
  for (const Layer& layer : layers)
    if (const Value* list = layer.table.find("route")) routes = read_routes(layer, *list, defaults, reading);

  // What is missing, or contradicts, cannot be told from what could not be read.
  if (readable) {
    check_top(top, whole, findings);
    check_route(top, defaults, findings);
    check_promise(defaults, findings);
    for (const RouteDraft& route : routes) {
      check_route(top, route, findings);
      check_promise(route, findings);
    }
    check_reachable(routes, findings);
  }

  std::vector<Finding> all;
  const bool failed = findings.any_error();
  all = findings.take();
  if (failed) return unexpected(std::move(all));
  apply_lists(defaults);
  apply_promise(defaults.route);
  top.config.defaults = std::move(defaults.route);
  for (RouteDraft& route : routes) {
    apply_lists(route);
    apply_promise(route.route);
    top.config.routes.push_back(std::move(route.route));
  }
  return Loaded{std::make_shared<const Config>(std::move(top.config)), std::move(all), std::move(sources)};
}

Expected<Loaded, std::vector<Finding>> load_layer(std::optional<Layer> file, const std::string& name,
                                                  Sources sources, Findings& findings) {
  std::vector<Layer> layers;
  const Place whole = file ? Place{name, 1, 1} : Place{"--upstream", 0, 0};
  if (file) layers.push_back(std::move(*file));
  for (Layer& layer : layers_above_file(sources, findings)) layers.push_back(std::move(layer));
  return assemble(std::move(sources), layers, whole, findings);
}

}  // namespace

std::optional<std::string> process_environment(const std::string& name) {
  const char* value = std::getenv(name.c_str());
  if (!value) return std::nullopt;
  return std::string(value);
}

Expected<Loaded, std::vector<Finding>> load_text(std::string_view text, std::string name, Sources sources) {
  Findings findings;
  Layer layer{parse_document(text, name, findings)};
  return load_layer(std::move(layer), name, std::move(sources), findings);
}

Expected<Loaded, std::vector<Finding>> load(Sources sources) {
  Findings findings;
  std::optional<std::string> path = sources.flags.file;
  if (!path) path = sources.environment("STET_CONFIG");
  if (!path || path->empty()) return load_layer(std::nullopt, "", std::move(sources), findings);

  struct stat status{};
  std::ifstream file(*path, std::ios::binary);
  std::ostringstream content;
  const bool found = ::stat(path->c_str(), &status) == 0 && S_ISDIR(status.st_mode) == 0 && file;
  if (found) content << file.rdbuf();
  if (!found || file.bad()) {
    const std::string why = found || errno == 0 ? "it is not a file" : std::strerror(errno);
    findings.error({*path, 0, 0}, "cannot be read: " + (S_ISDIR(status.st_mode) ? "it is a directory" : why));
    return unexpected(findings.take());
  }
  Layer layer{parse_document(std::move(content).str(), *path, findings),
              (status.st_mode & S_IROTH) != 0 ? Exposure::world_readable : Exposure::closed};
  return load_layer(std::move(layer), *path, std::move(sources), findings);
}

Expected<Loaded, std::vector<Finding>> reload(const Loaded& loaded) {
  return load(loaded.sources);
}

}  // namespace stet::config
