#include "admin/admin_request.hpp"

#include "admin/json_text.hpp"
#include "http/serialize.hpp"

namespace stet::admin {

Answer text_answer(int status, std::string_view content_type, std::string body) {
  Answer answer;
  answer.status = status;
  answer.headers = {{"Content-Type", std::string(content_type)},
                    {"Cache-Control", "no-store"},
                    {"X-Content-Type-Options", "nosniff"}};
  answer.body = std::move(body);
  return answer;
}

Answer json_answer(int status, std::string body) {
  return text_answer(status, "application/json", std::move(body) + "\n");
}

Answer problem_answer(int status, std::string_view detail, std::string_view reason) {
  JsonObject problem;
  problem.add("type", "about:blank");
  problem.add("title", http::reason_phrase(status));
  problem.add("status", status);
  if (!reason.empty()) problem.add("reason", reason);
  problem.add("detail", detail);
  return text_answer(status, "application/problem+json", problem.take() + "\n");
}

}  // namespace stet::admin
