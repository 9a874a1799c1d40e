#pragma once
// The cases of requests.json and answers.json. In them a string stands for bytes, one for each code point up
// to U+00FF, and {"repeat": …, "times": n} for long ones.
//
// A request case: what a client sends on one connection; `requests` are served, and `then` says how it goes
// on:
//   end      nothing is left over
//   more     the rest is the beginning of something: the gateway waits
//   refused  400 and the end of the connection; `why` is a part of the reason ("a|b": one of them)
// An answer case: what an upstream sends before it closes, cleanly, its side:
//   whole | excess (whole, and bytes after its end) | refused | truncated

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "http/message.hpp"

namespace stet::wire {

struct ExpectedRequest {
  std::string method;
  std::optional<std::string> target;
  std::optional<std::string> body;
  std::optional<std::string> host;
  std::optional<std::string> upgrade;
  std::optional<std::string> framing;      // none, sized, chunked
  std::optional<std::string> persistence;  // keep, close
  std::optional<int> minor;
  std::optional<bool> expects_continue;
};

struct RequestCase {
  std::string name;
  std::string source;
  std::string bytes;
  std::vector<ExpectedRequest> requests;
  std::string then;
  std::string why;
  std::string trailers;  // drop, refuse
};

struct AnswerCase {
  std::string name;
  std::string source;
  std::string method;  // of the request
  std::string bytes;
  std::string outcome;
  std::string why;
  int status = 0;
  std::string body;
  std::optional<std::string> persistence;
  int interims = 0;
};

std::vector<RequestCase> load_request_cases(const std::string& file);
std::vector<AnswerCase> load_answer_cases(const std::string& file);

bool is_one_of(std::string_view detail, std::string_view why);  // why = "part|other part"
std::string_view name(http::BodyFraming);
std::string_view name(http::Persistence);

}  // namespace stet::wire
