// A charges service behind the gateway, on a route with upstream_joins = true: the charge and the answer that every retry
// gets commit together, or neither does.
//   PORT=3000 DATABASE_URL=postgresql://… ./behind_gateway
#include <httplib.h>

#include <iostream>

#include "query.hpp"

namespace {

constexpr auto kInsert = "INSERT INTO charges (amount, note) SELECT (b->>'amount')::int, b->>'note' FROM (SELECT $1::jsonb) x(b) "
                         "RETURNING to_json(charges)::text";
// Fails with SQLSTATE STET1 when the key has gone to another attempt: then this charge is undone, too.
constexpr auto kComplete = R"(SELECT stet.complete($1, 201, '[["Content-Type", "application/json"]]', convert_to($2, 'UTF8')))";

std::string charge(const std::string& token, const std::string& wish) {
  Transaction transaction;
  std::string body = query(kInsert, {wish}).at(0);
  query(kComplete, {token, body});
  transaction.commit();
  return body;
}

}  // namespace

int main() {
  httplib::Server server;
  server.new_task_queue = [] { return new httplib::ThreadPool(32); };  // an idle connection keeps its thread
  const auto answer = [](httplib::Response& response, int status, const std::string& body) {
    response.status = status;
    response.set_content(body, "application/json");
  };
  server.Get("/charges", [&](const httplib::Request&, httplib::Response& response) {
    answer(response, 200, query("SELECT json_build_object('data', coalesce(json_agg(c ORDER BY id), '[]'))::text FROM charges c").at(0));
  });
  server.Post("/charges", [&](const httplib::Request& request, httplib::Response& response) {
    if (query("SELECT ($1::jsonb->>'amount')::int > 0", {request.body}).at(0) != "t") {
      return answer(response, 422, R"({"error": "an amount is positive"})");
    }
    answer(response, 201, charge(request.get_header_value("Stet-Token"), request.body));
  });
  server.set_exception_handler([&](const httplib::Request&, httplib::Response& response, const std::exception_ptr& thrown) {
    try {
      std::rethrow_exception(thrown);
    } catch (const std::exception& error) {
      std::cerr << error.what();
    }
    answer(response, 500, R"({"error": "not charged, as far as this service knows: ask again with the same key"})");
  });
  return server.listen("127.0.0.1", std::atoi(std::getenv("PORT"))) ? 0 : 1;
}
