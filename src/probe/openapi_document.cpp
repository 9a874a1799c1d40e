#include "probe/openapi_document.hpp"

#include <yaml-cpp/yaml.h>

#include <boost/json.hpp>

namespace stet::probe {
namespace {

namespace json = boost::json;

constexpr int kDeepest = 200;      // of a document that a person could have written
constexpr int kLongestChain = 32;  // of references to references

// YAML 1.2's core schema: what is not quoted and reads as a number, a boolean or null is one.
json::value scalar(const YAML::Node& node) {
  const std::string& text = node.Scalar();
  if (node.Tag() == "!" || node.Tag() == "tag:yaml.org,2002:str") return json::value(text);
  if (text == "true" || text == "True" || text == "TRUE") return true;
  if (text == "false" || text == "False" || text == "FALSE") return false;
  if (text.empty() || text == "~" || text == "null" || text == "Null" || text == "NULL") return nullptr;
  boost::system::error_code error;
  json::value number = json::parse(text, error);
  if (!error && number.is_number()) return number;
  return json::value(text);
}

json::value convert(const YAML::Node& node, int depth) {
  if (depth > kDeepest) throw YAML::Exception(node.Mark(), "nested too deeply");
  switch (node.Type()) {
    case YAML::NodeType::Scalar:
      return scalar(node);
    case YAML::NodeType::Sequence: {
      json::array list;
      for (const YAML::Node& item : node) list.push_back(convert(item, depth + 1));
      return list;
    }
    case YAML::NodeType::Map: {
      json::object object;
      for (const auto& entry : node) object[entry.first.Scalar()] = convert(entry.second, depth + 1);
      return object;
    }
    case YAML::NodeType::Undefined:
    case YAML::NodeType::Null:
      break;
  }
  return nullptr;
}

}  // namespace

Expected<json::value, std::string> load_document(const std::string& text) {
  const std::size_t begin = text.find_first_not_of(" \t\r\n\xef\xbb\xbf");
  if (begin != std::string::npos && text[begin] == '{') {
    boost::system::error_code error;
    json::parse_options options;
    options.max_depth = kDeepest;
    json::value value = json::parse(text.substr(begin), error, {}, options);
    if (!error) return value;
  }
  try {
    return convert(YAML::Load(text), 0);
  } catch (const YAML::Exception& trouble) {
    return tl::unexpected("line " + std::to_string(trouble.mark.line + 1) + ": " + trouble.msg);
  }
}

const json::object* Document::resolve(const json::value& value) const {
  const json::object* object = value.if_object();
  for (int step = 0; object != nullptr && step < kLongestChain; ++step) {
    const json::value* reference = object->if_contains("$ref");
    if (reference == nullptr || !reference->is_string()) return object;
    const json::string& target = reference->get_string();
    if (!target.starts_with("#")) return nullptr;
    boost::system::error_code error;
    const json::value* found = root_.find_pointer(json::string_view(target).substr(1), error);
    object = found != nullptr ? found->if_object() : nullptr;
  }
  return nullptr;
}

const json::value* member(const json::object* object, std::string_view name) {
  return object != nullptr ? object->if_contains({name.data(), name.size()}) : nullptr;
}

std::string text_of(const json::value* value) {
  return value != nullptr && value->is_string() ? std::string(value->get_string()) : std::string();
}

}  // namespace stet::probe
