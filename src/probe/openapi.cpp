#include "probe/openapi.hpp"

#include <algorithm>
#include <array>
#include <boost/json.hpp>
#include <map>

#include "probe/openapi_sample.hpp"
#include "probe/settings.hpp"

namespace stet::probe {
namespace {

namespace json = boost::json;

std::string plain_text(const json::value& value) {
  return value.is_string() ? std::string(value.get_string()) : json::serialize(value);
}

// name=value&name[member]=value&name[]=value, the usual spelling of nested values in forms.
void form_fields(const std::string& name, const json::value& value, std::string& out) {
  if (const json::object* object = value.if_object()) {
    for (const auto& entry : *object) {
      const std::string key(entry.key());
      form_fields(name.empty() ? key : name + "[" + key + "]", entry.value(), out);
    }
  } else if (const json::array* list = value.if_array()) {
    for (const json::value& item : *list) form_fields(name + "[]", item, out);
  } else if (!name.empty() && !value.is_null()) {
    out += (out.empty() ? "" : "&") + percent_encoded(name, Marks::keep) + "=" +
           percent_encoded(plain_text(value), Marks::keep);
  }
}

std::string form(const json::value& value) {
  std::string out;
  form_fields("", value, out);
  return out;
}

struct MediaType {
  std::string name;
  const json::object* content = nullptr;
};

// The media type that a request is made in: JSON where there is one, else a form.
MediaType choose(const Document& document, const json::value* content) {
  MediaType chosen;
  if (content == nullptr || !content->is_object()) return chosen;
  for (const auto& entry : content->get_object()) {
    Request probe;
    probe.headers.push_back({"Content-Type", std::string(entry.key())});
    const bool json_body = is_json(probe);
    const bool form_body = entry.key() == "application/x-www-form-urlencoded";
    if (!json_body && !(form_body && chosen.content == nullptr)) continue;
    chosen = {std::string(entry.key()), document.resolve(entry.value())};
    if (json_body) break;
  }
  return chosen;
}

class Reader {
 public:
  Reader(const Document& document, Url server) : document_(document), server_(std::move(server)) {}

  ApiOperation read(const std::string& method, const std::string& path, const json::object& item,
                    const json::object& operation) const {
    ApiOperation result;
    result.id = text_of(operation.if_contains("operationId"));
    if (result.id.empty()) result.id = method + " " + path;
    result.request.method = method;
    result.request.url = server_;
    std::string target = path;
    std::string query;
    json::object swagger_form;
    for (const json::object* parameter : parameters(item, operation)) {
      const std::string name = text_of(parameter->if_contains("name"));
      const std::string where = text_of(parameter->if_contains("in"));
      const json::value* required = parameter->if_contains("required");
      if (where != "path" && where != "body" && (required == nullptr || *required != true)) continue;
      const json::value value = example_of(document_, *parameter);
      if (where == "path") {
        const std::string mark = "{" + name + "}";
        if (const std::size_t at = target.find(mark); at != std::string::npos) {
          target.replace(at, mark.size(), percent_encoded(plain_text(value), Marks::keep));
        }
      } else if (where == "query") {
        query += (query.empty() ? "?" : "&") + percent_encoded(name, Marks::keep) + "=" +
                 percent_encoded(plain_text(value), Marks::keep);
      } else if (where == "header") {
        set_header(result.request.headers, name, plain_text(value));
      } else if (where == "body") {
        result.request.body = json::serialize(value);
        set_header(result.request.headers, "Content-Type", "application/json");
      } else if (where == "formData") {
        swagger_form[name] = value;
      }
    }
    std::string base = server_.target;
    while (base.ends_with('/')) base.pop_back();
    result.request.url.target = base + target + query;
    if (!swagger_form.empty()) {
      result.request.body = form(swagger_form);
      set_header(result.request.headers, "Content-Type", "application/x-www-form-urlencoded");
    }
    add_body(operation, result);
    return result;
  }

 private:
  // Of the path and of the operation; the operation's wins where both name one.
  std::vector<const json::object*> parameters(const json::object& item, const json::object& operation) const {
    std::vector<const json::object*> found;
    for (const json::object* holder : {&operation, &item}) {
      const json::value* list = holder->if_contains("parameters");
      if (list == nullptr || !list->is_array()) continue;
      for (const json::value& entry : list->get_array()) {
        const json::object* parameter = document_.resolve(entry);
        const auto same = [&](const json::object* other) {
          return text_of(member(other, "name")) == text_of(member(parameter, "name")) &&
                 text_of(member(other, "in")) == text_of(member(parameter, "in"));
        };
        if (parameter != nullptr && std::ranges::none_of(found, same)) found.push_back(parameter);
      }
    }
    return found;
  }

  void add_body(const json::object& operation, ApiOperation& result) const {
    const json::value* entry = operation.if_contains("requestBody");
    const json::object* body = entry != nullptr ? document_.resolve(*entry) : nullptr;
    const json::value* content = member(body, "content");
    if (content == nullptr) return;
    const MediaType media = choose(document_, content);
    if (media.content == nullptr) {
      result.unusable = "its body is neither JSON nor a form";
      return;
    }
    const json::value value = example_of(document_, *media.content);
    const bool is_form = media.name == "application/x-www-form-urlencoded";
    // An example may have been written down as a string that holds the JSON text.
    const bool text_example = value.is_string() && !is_form;
    result.request.body = is_form        ? form(value)
                          : text_example ? std::string(value.get_string())
                                         : json::serialize(value);
    set_header(result.request.headers, "Content-Type", media.name);
  }

  const Document& document_;
  Url server_;
};

std::string server_url(const json::object& root) {
  if (const json::value* servers = root.if_contains("servers");
      servers != nullptr && servers->is_array() && !servers->get_array().empty()) {
    const json::object* first = servers->get_array().front().if_object();
    std::string url = text_of(member(first, "url"));
    const json::value* variables = member(first, "variables");
    if (variables != nullptr && variables->is_object()) {
      for (const auto& entry : variables->get_object()) {
        const std::string mark = "{" + std::string(entry.key()) + "}";
        const json::value* given = member(entry.value().if_object(), "default");
        if (const std::size_t at = url.find(mark); at != std::string::npos && given != nullptr) {
          url.replace(at, mark.size(), plain_text(*given));
        }
      }
    }
    return url;
  }
  const std::string host = text_of(root.if_contains("host"));  // Swagger 2.0
  if (host.empty()) return "";
  const json::value* schemes = root.if_contains("schemes");
  const bool plain = schemes != nullptr && schemes->is_array() && !schemes->get_array().empty() &&
                     schemes->get_array().front() == "http";
  return (plain ? "http://" : "https://") + host + text_of(root.if_contains("basePath"));
}

}  // namespace

Expected<std::vector<ApiOperation>, std::string> read_openapi(const std::string& text,
                                                              const std::string& server) {
  const auto root = load_document(text);
  if (!root) return tl::unexpected(root.error());
  const json::object* top = root->if_object();
  const json::value* paths = member(top, "paths");
  if (paths == nullptr || !paths->is_object())
    return tl::unexpected(std::string("it has no 'paths': not an OpenAPI document"));
  const std::string url = server.empty() ? server_url(*top) : server;
  const auto base = parse_url(url);
  if (!base) {
    return tl::unexpected("it names no server to send to (" + (url.empty() ? "none" : url) +
                          "): give one with --server");
  }
  const Document document(*root);
  const Reader reader(document, *base);
  std::vector<ApiOperation> operations;
  for (const auto& path : paths->get_object()) {
    const json::object* item = document.resolve(path.value());
    for (const std::string_view method : {"post", "patch"}) {
      const json::value* entry = member(item, method);
      if (entry == nullptr || !entry->is_object()) continue;
      operations.push_back(reader.read(method == "post" ? "POST" : "PATCH", std::string(path.key()), *item,
                                       entry->get_object()));
    }
  }
  return operations;
}

}  // namespace stet::probe
