#pragma once
// A request to the admin port, and the answers that every part of it gives.

#include <string>
#include <string_view>

#include "http/message.hpp"
#include "stet/record.hpp"

namespace stet::admin {

struct AdminRequest {
  http::RequestHead head;
  std::string body;
};

Answer json_answer(int status, std::string body);
Answer text_answer(int status, std::string_view content_type, std::string body);

// application/problem+json (RFC 9457). Its type is about:blank: the status says what kind it is, `detail` is
// one sentence for the operator, and `reason` one word for programs where a status has several.
Answer problem_answer(int status, std::string_view detail, std::string_view reason = {});

}  // namespace stet::admin
