#include <curl/curl.h>

#include <cstdio>
#include <memory>

#include "command.hpp"
#include "operators.hpp"

namespace stet::app {
namespace {

namespace json = boost::json;

// The store may be slow; the gateway itself gives up before this.
constexpr long kPatienceSeconds = 60;
// A page of 1000 lines, or one answer in base64.
constexpr std::size_t kMostBytes = std::size_t{2} << 30;

struct Response {
  long status = 0;
  std::string body;
};

std::size_t append(char* bytes, std::size_t size, std::size_t count, void* into) {
  std::string& body = *static_cast<std::string*>(into);
  if (body.size() + size * count > kMostBytes) return 0;
  body.append(bytes, size * count);
  return size * count;
}

std::string escaped(std::string_view text) {
  std::string out;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    const bool plain =
        (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '-' || c == '_';
    char hex[4];
    std::snprintf(hex, sizeof hex, "%%%02X", byte);
    if (plain)
      out += c;
    else
      out += hex;
  }
  return out;
}

int exit_code(long status) {
  switch (status) {
    case 404:
    case 409:
      return kFailed;
    case 400:
    case 401:
    case 403:
    case 415:
      return kUsage;
    default:
      return kEnvironment;
  }
}

class ThroughAdminPort : public Operators {
 public:
  ThroughAdminPort(const config::Endpoint& endpoint, std::string token)
      : base_("http://" +
              (endpoint.host.find(':') == std::string::npos ? endpoint.host : "[" + endpoint.host + "]") +
              ":" + std::to_string(endpoint.port)),
        token_(std::move(token)) {}

  Answered<json::object> list(const ListRequest& request) override {
    std::string target = "/api/operations?limit=" + std::to_string(request.limit);
    const Filter& filter = request.filter;
    if (filter.state) target += "&state=" + std::string(name(*filter.state));
    if (filter.scope) target += "&scope=" + escaped(*filter.scope);
    if (filter.key) target += "&key=" + escaped(*filter.key);
    if (filter.created_before) target += "&created_before=" + escaped(admin::rfc3339(*filter.created_before));
    if (!request.cursor.empty()) target += "&cursor=" + escaped(request.cursor);
    return send(target, std::nullopt);
  }
  Answered<json::object> show(const OperationId& id) override {
    return send("/api/operations/" + id.text(), std::nullopt);
  }
  Answered<json::object> settle(const OperationId& id, const admin::SettleRequest& request) override {
    return send("/api/operations/" + id.text() + "/settle", admin::settle_json(request));
  }
  Answered<json::object> sweep(command::Sweep::Clock clock) override {
    return send("/api/sweep", clock == command::Sweep::Clock::trusted ? R"({"trust_clock": true})" : "{}");
  }

 private:
  // A body makes it a POST.
  Answered<json::object> send(const std::string& target, const std::optional<std::string>& body) {
    const auto response = perform(target, body);
    if (!response) return unexpected<Refused>({kEnvironment, response.error()});
    auto object = parse_object(response->body);
    if (response->status == 200 && object) return object;
    std::string what = base_ + " answered " + std::to_string(response->status);
    if (object) {
      const json::value* detail = object->if_contains("detail");
      if (detail && detail->is_string()) what = detail->get_string().c_str();
    }
    if (response->status == 401) what += " (--token)";
    return unexpected<Refused>({exit_code(response->status), what});
  }

  Expected<Response, std::string> perform(const std::string& target, const std::optional<std::string>& body) {
    const std::unique_ptr<CURL, decltype(&curl_easy_cleanup)> curl(curl_easy_init(), &curl_easy_cleanup);
    if (!curl) return unexpected<std::string>("no memory for a connection");
    Response response;
    curl_slist* lines = nullptr;
    if (!token_.empty()) lines = curl_slist_append(lines, ("Authorization: Bearer " + token_).c_str());
    if (body) lines = curl_slist_append(lines, "Content-Type: application/json");
    const std::unique_ptr<curl_slist, decltype(&curl_slist_free_all)> headers(lines, &curl_slist_free_all);
    const std::string url = base_ + target;
    curl_easy_setopt(curl.get(), CURLOPT_URL, url.c_str());
    curl_easy_setopt(curl.get(), CURLOPT_HTTPHEADER, headers.get());
    curl_easy_setopt(curl.get(), CURLOPT_WRITEFUNCTION, &append);
    curl_easy_setopt(curl.get(), CURLOPT_WRITEDATA, &response.body);
    curl_easy_setopt(curl.get(), CURLOPT_TIMEOUT, kPatienceSeconds);
    curl_easy_setopt(curl.get(), CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(curl.get(), CURLOPT_NOPROXY, "*");  // the token is for the gateway alone
    curl_easy_setopt(curl.get(), CURLOPT_PROTOCOLS_STR, "http");
    if (body) {
      curl_easy_setopt(curl.get(), CURLOPT_POSTFIELDSIZE_LARGE, static_cast<curl_off_t>(body->size()));
      curl_easy_setopt(curl.get(), CURLOPT_POSTFIELDS, body->data());
    }
    if (const CURLcode code = curl_easy_perform(curl.get()); code != CURLE_OK)
      return unexpected<std::string>(
          "no gateway answers at " + base_ + " (" + curl_easy_strerror(code) +
          "); --admin names its admin port, --store works on a store without a gateway");
    curl_easy_getinfo(curl.get(), CURLINFO_RESPONSE_CODE, &response.status);
    return response;
  }

  std::string base_;
  std::string token_;
};

}  // namespace

std::unique_ptr<Operators> through_admin_port(const config::Endpoint& endpoint, std::string token) {
  return std::make_unique<ThroughAdminPort>(endpoint, std::move(token));
}

}  // namespace stet::app
