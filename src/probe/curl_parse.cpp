#include <openssl/evp.h>

#include <algorithm>
#include <array>
#include <fstream>
#include <iterator>
#include <optional>

#include "probe/curl_line.hpp"

namespace stet::probe {
namespace {

std::string base64(const std::string& text) {
  std::string out(4 * ((text.size() + 2) / 3) + 1, '\0');
  const int size =
      EVP_EncodeBlock(reinterpret_cast<unsigned char*>(out.data()),
                      reinterpret_cast<const unsigned char*>(text.data()), static_cast<int>(text.size()));
  out.resize(static_cast<std::size_t>(size));
  return out;
}

enum class Option : std::uint8_t {
  method,
  header,
  data,
  data_raw,
  data_binary,
  data_urlencode,
  json,
  url,
  user,
  agent,
  referer,
  cookie,
  ignored_value,
  ignored,
  refused
};

struct Spelling {
  std::string_view text;
  Option option;
};

constexpr std::array kOptions = {
    Spelling{"-X", Option::method},
    Spelling{"--request", Option::method},
    Spelling{"-H", Option::header},
    Spelling{"--header", Option::header},
    Spelling{"-d", Option::data},
    Spelling{"--data", Option::data},
    Spelling{"--data-ascii", Option::data},
    Spelling{"--data-raw", Option::data_raw},
    Spelling{"--data-binary", Option::data_binary},
    Spelling{"--data-urlencode", Option::data_urlencode},
    Spelling{"--json", Option::json},
    Spelling{"--url", Option::url},
    Spelling{"-u", Option::user},
    Spelling{"--user", Option::user},
    Spelling{"-A", Option::agent},
    Spelling{"--user-agent", Option::agent},
    Spelling{"-e", Option::referer},
    Spelling{"--referer", Option::referer},
    Spelling{"-b", Option::cookie},
    Spelling{"--cookie", Option::cookie},
    Spelling{"-o", Option::ignored_value},
    Spelling{"--output", Option::ignored_value},
    Spelling{"-m", Option::ignored_value},
    Spelling{"--max-time", Option::ignored_value},
    Spelling{"--connect-timeout", Option::ignored_value},
    Spelling{"-w", Option::ignored_value},
    Spelling{"--write-out", Option::ignored_value},
    Spelling{"--retry", Option::ignored_value},
    Spelling{"-s", Option::ignored},
    Spelling{"--silent", Option::ignored},
    Spelling{"-S", Option::ignored},
    Spelling{"--show-error", Option::ignored},
    Spelling{"-i", Option::ignored},
    Spelling{"--include", Option::ignored},
    Spelling{"-v", Option::ignored},
    Spelling{"--verbose", Option::ignored},
    Spelling{"-k", Option::ignored},
    Spelling{"--insecure", Option::ignored},
    Spelling{"-L", Option::ignored},
    Spelling{"--location", Option::ignored},
    Spelling{"-f", Option::ignored},
    Spelling{"--fail", Option::ignored},
    Spelling{"--compressed", Option::ignored},
    Spelling{"-N", Option::ignored},
    Spelling{"--no-buffer", Option::ignored},
    Spelling{"--http1.1", Option::ignored},
    Spelling{"--http2", Option::ignored},
    Spelling{"-g", Option::ignored},
    Spelling{"--globoff", Option::ignored},
    Spelling{"-F", Option::refused},
    Spelling{"--form", Option::refused},
    Spelling{"-T", Option::refused},
    Spelling{"--upload-file", Option::refused},
    Spelling{"-G", Option::refused},
    Spelling{"--get", Option::refused},
    Spelling{"-I", Option::refused},
    Spelling{"--head", Option::refused},
    Spelling{"-K", Option::refused},
    Spelling{"--config", Option::refused},
};

const Spelling* find_option(std::string_view word) {
  const auto found = std::ranges::find(kOptions, word, &Spelling::text);
  return found == kOptions.end() ? nullptr : &*found;
}

bool takes_value(Option option) {
  return option < Option::ignored;
}

// "-sSXPOST" is "-s -S -X POST". What is not known stays as it is, and is refused later by its name.
std::vector<std::string> unbundled(const std::vector<std::string>& words) {
  std::vector<std::string> out;
  bool is_value = false;
  for (const std::string& word : words) {
    std::string rest = word;
    while (!is_value && rest.size() > 2 && rest[0] == '-' && rest[1] != '-') {
      const Spelling* option = find_option(rest.substr(0, 2));
      if (option == nullptr) break;
      out.push_back(rest.substr(0, 2));
      is_value = takes_value(option->option);
      rest = (is_value ? "" : "-") + rest.substr(2);
    }
    const Spelling* option = is_value ? nullptr : find_option(rest);
    is_value = option != nullptr && takes_value(option->option);
    out.push_back(rest);
  }
  return out;
}

// "@file" is the file's content; newlines are dropped unless `binary`.
enum class Newlines : std::uint8_t { keep, drop };
Expected<std::string, std::string> data_of(const std::string& value, Newlines newlines) {
  if (!value.starts_with('@')) return value;
  std::ifstream file(value.substr(1), std::ios::binary);
  if (!file) return tl::unexpected("cannot read " + value.substr(1) + ", the body of the curl line");
  std::string text{std::istreambuf_iterator<char>(file), {}};
  if (newlines == Newlines::drop) std::erase_if(text, [](char c) { return c == '\n' || c == '\r'; });
  return text;
}

struct Pasted {
  std::string method;
  std::string url;
  Headers headers;
  std::string body;
  bool has_body = false;
  enum class Kind : std::uint8_t { form, json } kind = Kind::form;

  void add_data(const std::string& text) {
    if (has_body && kind == Kind::form) body += "&";
    body += text;
    has_body = true;
  }
};

// Empty when it was taken, else what is wrong.
std::string apply(Pasted& pasted, Option option, const std::string& value) {
  switch (option) {
    case Option::method:
      pasted.method = value;
      return {};
    case Option::url:
      pasted.url = value;
      return {};
    case Option::header: {
      const std::size_t colon = value.find_first_of(":;");
      if (colon == std::string::npos || colon == 0) return "'" + value + "' is not a header";
      const std::size_t begin = value.find_first_not_of(" \t", colon + 1);
      pasted.headers.push_back(
          {value.substr(0, colon), begin == std::string::npos ? "" : value.substr(begin)});
      return {};
    }
    case Option::data:
    case Option::data_raw:
    case Option::data_binary:
    case Option::json: {
      const auto text = option == Option::data_raw
                            ? Expected<std::string, std::string>(value)
                            : data_of(value, option == Option::data ? Newlines::drop : Newlines::keep);
      if (!text) return text.error();
      if (option == Option::json) pasted.kind = Pasted::Kind::json;
      pasted.add_data(*text);
      return {};
    }
    case Option::data_urlencode: {
      const std::size_t equals = value.find('=');
      if (equals == std::string::npos) {
        pasted.add_data(percent_encoded(value, Marks::encode));
      } else {
        pasted.add_data(value.substr(0, equals == 0 ? 0 : equals + 1) +
                        percent_encoded(value.substr(equals + 1), Marks::encode));
      }
      return {};
    }
    case Option::user:
      set_header(pasted.headers, "Authorization", "Basic " + base64(value));
      return {};
    case Option::agent:
      set_header(pasted.headers, "User-Agent", value);
      return {};
    case Option::referer:
      set_header(pasted.headers, "Referer", value);
      return {};
    case Option::cookie:
      if (value.find('=') == std::string::npos)
        return "a cookie file (-b " + value + ") cannot be used: give the cookies themselves";
      set_header(pasted.headers, "Cookie", value);
      return {};
    case Option::ignored_value:
    case Option::ignored:
    case Option::refused:
      return {};
  }
  return {};
}

}  // namespace

Expected<Request, std::string> parse_curl(const std::string& command) {
  const auto words = shell_words(command);
  if (!words) return tl::unexpected("the curl line: " + words.error());
  if (words->empty() || words->front() != "curl")
    return tl::unexpected(std::string("the line does not begin with curl"));
  const auto args = unbundled(*words);
  Pasted pasted;
  for (std::size_t i = 1; i < args.size(); ++i) {
    std::string word = args[i];
    if (!word.starts_with('-') || word == "-") {
      if (!pasted.url.empty())
        return tl::unexpected("the curl line has two URLs: " + pasted.url + " and " + word);
      pasted.url = word;
      continue;
    }
    std::optional<std::string> value;
    if (word.starts_with("--") && word.find('=') != std::string::npos && find_option(word) == nullptr) {
      value = word.substr(word.find('=') + 1);
      word.resize(word.find('='));
    }
    const Spelling* spelling = find_option(word);
    if (spelling == nullptr || spelling->option == Option::refused) {
      return tl::unexpected("curl's " + word +
                            " is not understood here: write the request with flags instead");
    }
    if (!takes_value(spelling->option)) continue;
    if (!value) {
      if (++i >= args.size()) return tl::unexpected("curl's " + word + " lacks its value");
      value = args[i];
    }
    if (const std::string wrong = apply(pasted, spelling->option, *value); !wrong.empty()) {
      return tl::unexpected("the curl line: " + wrong);
    }
  }
  if (pasted.url.empty()) return tl::unexpected(std::string("the curl line names no URL"));
  if (pasted.url.find("://") == std::string::npos) pasted.url = "http://" + pasted.url;
  const auto url = parse_url(pasted.url);
  if (!url) return tl::unexpected(url.error());
  Request request;
  request.method = !pasted.method.empty() ? pasted.method : pasted.has_body ? "POST" : "GET";
  request.url = *url;
  request.body = pasted.body;
  for (const Header& header : pasted.headers) {
    static constexpr std::array<std::string_view, 6> own = {
        "Host", "Content-Length", "Connection", "Accept-Encoding", "Transfer-Encoding", "Expect"};
    const bool is_own =
        std::ranges::any_of(own, [&](std::string_view name) { return same_name(name, header.name); });
    if (!is_own && !header.name.starts_with(':')) request.headers.push_back(header);
  }
  if (pasted.has_body && find_header(request.headers, "Content-Type") == nullptr) {
    request.headers.push_back({"Content-Type", pasted.kind == Pasted::Kind::json
                                                   ? "application/json"
                                                   : "application/x-www-form-urlencoded"});
  }
  return request;
}

}  // namespace stet::probe
