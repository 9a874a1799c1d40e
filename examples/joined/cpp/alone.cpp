// The same service without a gateway: it claims the key, charges and keeps the answer in one transaction. A duplicate that
// comes meanwhile waits for the commit, and gets the first one's answer.
//   PORT=3000 DATABASE_URL=postgresql://… ./alone
#include <httplib.h>

#include <iostream>
#include <regex>

#include "query.hpp"

namespace {

// $1: who calls, as a hash, so that two callers' equal keys are two. $3: the request as jsonb prints it, whatever its spaces.
constexpr auto kClaim = "SELECT verdict, token, status, convert_from(body, 'UTF8') FROM stet.claim(encode(sha256(convert_to($1, "
                        "'UTF8')), 'hex'), $2, convert_to('POST /charges ' || $3::jsonb::text, 'UTF8'))";
constexpr auto kInsert = "INSERT INTO charges (amount, note) SELECT (b->>'amount')::int, b->>'note' FROM (SELECT $1::jsonb) x(b) "
                         "RETURNING to_json(charges)::text";
constexpr auto kComplete = R"(SELECT stet.complete($1, 201, '[["Content-Type", "application/json"]]', convert_to($2, 'UTF8')))";

struct Answer {
  int status;
  std::string body;
  bool replayed = false;
};

Answer charge(const std::string& caller, const std::string& key, const std::string& wish) {
  Transaction transaction;
  const std::vector<std::string> claim = query(kClaim, {caller, key, wish});
  const std::string& verdict = claim.at(0);
  if (verdict == "claimed") {
    const std::string body = query(kInsert, {wish}).at(0);
    query(kComplete, {claim.at(1), body});
    transaction.commit();
    return {201, body};
  }
  if (verdict == "replay") return {std::stoi(claim.at(2)), claim.at(3), true};
  if (verdict == "mismatch") return {422, R"({"error": "this key came with another request"})"};
  return {409, R"({"error": "this key is )" + verdict + "\"}"};
}

}  // namespace

int main() {
  httplib::Server server;
  server.new_task_queue = [] { return new httplib::ThreadPool(32); };  // an idle connection keeps its thread
  const auto answer = [](httplib::Response& response, const Answer& what) {
    response.status = what.status;
    response.set_content(what.body, "application/json");
    if (what.replayed) response.set_header("Idempotent-Replayed", "true");
    if (what.status == 409) response.set_header("Retry-After", "1");
  };
  server.Get("/charges", [&](const httplib::Request&, httplib::Response& response) {
    answer(response, {200, query("SELECT json_build_object('data', coalesce(json_agg(c ORDER BY id), '[]'))::text FROM charges c").at(0)});
  });
  server.Post("/charges", [&](const httplib::Request& request, httplib::Response& response) {
    static const std::regex form{R"re("([!#-~]{1,255})"|([!#-~]{1,255}))re"};
    const std::string field = request.get_header_value("Idempotency-Key");
    std::smatch key;
    if (request.get_header_value_count("Idempotency-Key") != 1 || !std::regex_match(field, key, form)) {
      return answer(response, {400, R"({"error": "one Idempotency-Key of 1 to 255 characters is needed"})"});
    }
    if (query("SELECT ($1::jsonb->>'amount')::int > 0", {request.body}).at(0) != "t") {
      return answer(response, {422, R"({"error": "an amount is positive"})"});
    }
    answer(response, charge(request.get_header_value("Authorization"), key.str(key[1].matched ? 1 : 2), request.body));
  });
  server.set_exception_handler([&](const httplib::Request&, httplib::Response& response, const std::exception_ptr& thrown) {
    try {
      std::rethrow_exception(thrown);
    } catch (const std::exception& error) {
      std::cerr << error.what();
    }
    answer(response, {500, R"({"error": "ask again with the same key"})"});
  });
  return server.listen("127.0.0.1", std::atoi(std::getenv("PORT"))) ? 0 : 1;
}
