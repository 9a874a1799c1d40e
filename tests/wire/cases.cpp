#include "cases.hpp"

#include <boost/json.hpp>
#include <fstream>
#include <iterator>
#include <stdexcept>

namespace stet::wire {

namespace {

namespace json = boost::json;

// Code points up to U+00FF, as UTF-8, to one byte each.
std::string to_bytes(std::string_view utf8) {
  std::string bytes;
  for (std::size_t i = 0; i < utf8.size(); ++i) {
    const auto c = static_cast<unsigned char>(utf8[i]);
    if (c < 0x80) {
      bytes += utf8[i];
      continue;
    }
    if ((c != 0xc2 && c != 0xc3) || i + 1 == utf8.size())
      throw std::runtime_error("a code point above U+00FF");
    bytes += static_cast<char>((c & 0x03) << 6 | (static_cast<unsigned char>(utf8[++i]) & 0x3f));
  }
  return bytes;
}

std::string text(const json::value& value) {
  return to_bytes(value.as_string());
}

std::string text_of(const json::object& object, std::string_view member, std::string_view otherwise = "") {
  const json::value* value = object.if_contains(member);
  return value == nullptr ? std::string(otherwise) : text(*value);
}

std::optional<std::string> optional_text(const json::object& object, std::string_view member) {
  const json::value* value = object.if_contains(member);
  return value == nullptr ? std::nullopt : std::optional(text(*value));
}

int number_of(const json::object& object, std::string_view member) {
  const json::value* value = object.if_contains(member);
  return value == nullptr ? 0 : value->to_number<int>();
}

std::string pieces(const json::array& array) {
  std::string bytes;
  for (const json::value& piece : array) {
    if (piece.is_string()) {
      bytes += text(piece);
      continue;
    }
    const std::string part = text(piece.as_object().at("repeat"));
    for (int n = piece.as_object().at("times").to_number<int>(); n > 0; --n) bytes += part;
  }
  return bytes;
}

json::array load(const std::string& file) {
  std::ifstream in(file, std::ios::binary);
  const std::string content{std::istreambuf_iterator<char>(in), {}};
  return json::parse(content).as_array();
}

ExpectedRequest expected_request(const json::object& object) {
  ExpectedRequest request;
  request.method = text(object.at("method"));
  request.target = optional_text(object, "target");
  request.body = optional_text(object, "body");
  request.host = optional_text(object, "host");
  request.upgrade = optional_text(object, "upgrade");
  request.framing = optional_text(object, "framing");
  request.persistence = optional_text(object, "persistence");
  if (object.contains("minor")) request.minor = number_of(object, "minor");
  if (const json::value* flag = object.if_contains("expects_continue"))
    request.expects_continue = flag->as_bool();
  return request;
}

}  // namespace

std::vector<RequestCase> load_request_cases(const std::string& file) {
  std::vector<RequestCase> cases;
  for (const json::value& value : load(file)) {
    const json::object& object = value.as_object();
    RequestCase one;
    one.name = text(object.at("name"));
    one.source = text(object.at("source"));
    one.bytes = pieces(object.at("bytes").as_array());
    one.then = text(object.at("then"));
    one.why = text_of(object, "why");
    one.trailers = text_of(object, "trailers", "refuse");
    for (const json::value& request : object.at("requests").as_array()) {
      one.requests.push_back(expected_request(request.as_object()));
    }
    cases.push_back(std::move(one));
  }
  return cases;
}

std::vector<AnswerCase> load_answer_cases(const std::string& file) {
  std::vector<AnswerCase> cases;
  for (const json::value& value : load(file)) {
    const json::object& object = value.as_object();
    AnswerCase one;
    one.name = text(object.at("name"));
    one.source = text(object.at("source"));
    one.method = text(object.at("method"));
    one.bytes = pieces(object.at("bytes").as_array());
    one.outcome = text(object.at("outcome"));
    one.why = text_of(object, "why");
    one.status = number_of(object, "status");
    one.body = text_of(object, "body");
    one.persistence = optional_text(object, "persistence");
    one.interims = number_of(object, "interims");
    cases.push_back(std::move(one));
  }
  return cases;
}

bool is_one_of(std::string_view detail, std::string_view why) {
  while (true) {
    const std::size_t bar = why.find('|');
    if (detail.find(why.substr(0, bar)) != std::string_view::npos) return true;
    if (bar == std::string_view::npos) return false;
    why.remove_prefix(bar + 1);
  }
}

std::string_view name(http::BodyFraming framing) {
  switch (framing) {
    case http::BodyFraming::none:
      return "none";
    case http::BodyFraming::sized:
      return "sized";
    case http::BodyFraming::chunked:
      return "chunked";
    case http::BodyFraming::until_close:
      return "until_close";
  }
  return "";
}

std::string_view name(http::Persistence persistence) {
  return persistence == http::Persistence::keep ? "keep" : "close";
}

}  // namespace stet::wire
