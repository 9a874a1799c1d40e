#include "probe/openapi_sample.hpp"

#include <boost/json.hpp>
#include <cmath>

namespace stet::probe {
namespace {

namespace json = boost::json;

constexpr int kDeepest = 12;  // schemas refer to themselves; what is required so deep down is left empty

class Maker {
 public:
  explicit Maker(const Document& document) : document_(document) {}

  json::value make(const json::value& schema_value, int depth) const {
    const json::object* schema = document_.resolve(schema_value);
    if (schema == nullptr || depth > kDeepest) return nullptr;
    for (const char* name : {"const", "example", "default"}) {
      if (const json::value* given = schema->if_contains(name)) return *given;
    }
    for (const char* name : {"examples", "enum"}) {
      const json::value* list = schema->if_contains(name);
      if (list != nullptr && list->is_array() && !list->get_array().empty()) return list->get_array().front();
    }
    if (const json::value* all = schema->if_contains("allOf"); all != nullptr && all->is_array()) {
      return merged(*schema, all->get_array(), depth);
    }
    for (const char* name : {"oneOf", "anyOf"}) {
      const json::value* list = schema->if_contains(name);
      if (list == nullptr || !list->is_array() || list->get_array().empty()) continue;
      json::value chosen = make(list->get_array().front(), depth + 1);
      // Members that stand beside the choice are required whichever was chosen.
      if (chosen.is_object() && schema->contains("properties"))
        merge(chosen.get_object(), object(*schema, depth));
      return chosen;
    }
    return of_type(*schema, depth);
  }

 private:
  static void merge(json::object& into, const json::object& from) {
    for (const auto& entry : from) into[entry.key()] = entry.value();
  }

  json::value merged(const json::object& schema, const json::array& parts, int depth) const {
    json::object all;
    json::value other;
    for (const json::value& part : parts) {
      json::value made = make(part, depth + 1);
      if (made.is_object()) {
        merge(all, made.get_object());
      } else if (!made.is_null()) {
        other = std::move(made);
      }
    }
    merge(all, object(schema, depth));
    if (all.empty() && !other.is_null()) return other;
    return all;
  }

  static std::string type_of(const json::object& schema) {
    const json::value* type = schema.if_contains("type");
    if (type != nullptr && type->is_string()) return std::string(type->get_string());
    if (type != nullptr && type->is_array()) {  // OpenAPI 3.1: ["string", "null"]
      for (const json::value& one : type->get_array()) {
        if (one.is_string() && one.get_string() != "null") return std::string(one.get_string());
      }
    }
    return schema.contains("properties") ? "object" : schema.contains("items") ? "array" : "";
  }

  json::value of_type(const json::object& schema, int depth) const {
    const std::string type = type_of(schema);
    if (type == "object") return object(schema, depth);
    if (type == "array") {
      json::array list;
      const json::value* items = schema.if_contains("items");
      const std::int64_t least = std::max<std::int64_t>(1, integer(schema, "minItems", 1));
      for (std::int64_t i = 0; items != nullptr && i < std::min<std::int64_t>(least, 10); ++i) {
        list.push_back(make(*items, depth + 1));
      }
      return list;
    }
    if (type == "integer" || type == "number") return number(schema);
    if (type == "boolean") return true;
    if (type == "string") return json::value(string(schema));
    return json::object();
  }

  json::object object(const json::object& schema, int depth) const {
    json::object made;
    const json::value* properties = schema.if_contains("properties");
    const json::value* required = schema.if_contains("required");
    if (properties == nullptr || !properties->is_object()) return made;
    const auto add = [&](json::string_view name) {
      const json::value* property = properties->get_object().if_contains(name);
      if (property != nullptr && depth < kDeepest) made[name] = make(*property, depth + 1);
    };
    if (required != nullptr && required->is_array()) {
      for (const json::value& name : required->get_array()) {
        if (name.is_string()) add(name.get_string());
      }
    } else {
      // Nothing is required: the members that come with a value of their own make a request that means
      // something.
      for (const auto& entry : properties->get_object()) {
        const json::object* property = document_.resolve(entry.value());
        if (property != nullptr && (property->contains("example") || property->contains("default")))
          add(entry.key());
      }
    }
    return made;
  }

  static std::int64_t integer(const json::object& schema, const char* name, std::int64_t otherwise) {
    const json::value* value = schema.if_contains(name);
    if (value == nullptr || !value->is_number()) return otherwise;
    const double number = value->to_number<double>();
    return std::abs(number) < 1e15 ? static_cast<std::int64_t>(std::ceil(number)) : otherwise;
  }

  static json::value number(const json::object& schema) {
    std::int64_t value = integer(schema, "minimum", 1);
    if (const json::value* exclusive = schema.if_contains("exclusiveMinimum")) {
      if (exclusive->is_bool() && exclusive->get_bool()) ++value;
      if (exclusive->is_number()) value = integer(schema, "exclusiveMinimum", 0) + 1;
    }
    const std::int64_t multiple = integer(schema, "multipleOf", 1);
    if (multiple > 1 && value % multiple != 0) value += multiple - value % multiple;
    if (schema.contains("maximum")) value = std::min(value, integer(schema, "maximum", value));
    return value;
  }

  static std::string string(const json::object& schema) {
    const std::string format = text_of(schema.if_contains("format"));
    if (format == "uuid") return "{{uuid}}";
    if (format == "date-time") return "2030-01-01T12:00:00Z";
    if (format == "date") return "2030-01-01";
    if (format == "time") return "12:00:00Z";
    if (format == "email") return "probe-{{n}}@example.com";
    if (format == "uri" || format == "url") return "https://example.com/{{n}}";
    if (format == "hostname") return "example.com";
    if (format == "ipv4") return "192.0.2.1";
    if (format == "ipv6") return "2001:db8::1";
    if (format == "byte") return "cHJvYmU=";
    std::string text = "probe";
    const auto least =
        static_cast<std::size_t>(std::clamp<std::int64_t>(integer(schema, "minLength", 0), 0, 10'000));
    const auto most =
        static_cast<std::size_t>(std::clamp<std::int64_t>(integer(schema, "maxLength", 10'000), 0, 10'000));
    while (text.size() < least) text += 'x';
    return text.substr(0, std::max(most, least));
  }

  const Document& document_;
};

}  // namespace

json::value sample(const Document& document, const json::value& schema) {
  return Maker(document).make(schema, 0);
}

json::value example_of(const Document& document, const json::object& holder) {
  if (const json::value* example = holder.if_contains("example")) return *example;
  if (const json::value* examples = holder.if_contains("examples");
      examples != nullptr && examples->is_object()) {
    for (const auto& entry : examples->get_object()) {
      const json::object* example = document.resolve(entry.value());
      if (const json::value* value = member(example, "value")) return *value;
    }
  }
  if (const json::value* schema = holder.if_contains("schema")) return sample(document, *schema);
  return sample(document, holder);  // Swagger 2.0 writes type and format beside the parameter's name
}

}  // namespace stet::probe
