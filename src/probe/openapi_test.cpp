#include "probe/openapi.hpp"

#include <gtest/gtest.h>

#include <fstream>
#include <iterator>

#include "probe/json.hpp"

namespace stet::probe {
namespace {

constexpr const char* kYaml = R"(
openapi: 3.1.0
info: {title: Shop, version: "1"}
servers:
  - url: http://{host}:8080/v1
    variables: {host: {default: 127.0.0.1}}
paths:
  /orders/{order_id}/payments:
    parameters:
      - {name: order_id, in: path, required: true, schema: {type: string, format: uuid}}
    post:
      operationId: pay
      parameters:
        - $ref: '#/components/parameters/Trace'
        - {name: mode, in: query, required: true, schema: {type: string, enum: [live, test]}}
        - {name: verbose, in: query, schema: {type: boolean}}
      requestBody:
        content:
          application/json:
            schema: {$ref: '#/components/schemas/Payment'}
    get: {operationId: list}
  /forms:
    patch:
      requestBody:
        content:
          application/x-www-form-urlencoded:
            schema:
              type: object
              required: [amount, card, tags]
              properties:
                amount: {type: integer, minimum: 50}
                card: {type: object, required: [number], properties: {number: {type: string, example: "4242 4242"}}}
                tags: {type: array, items: {type: string, default: a}}
  /upload:
    post: {requestBody: {content: {multipart/form-data: {schema: {type: object}}}}}
components:
  parameters:
    Trace: {name: X-Trace, in: header, required: true, schema: {type: string}, example: t1}
  schemas:
    Payment:
      allOf:
        - type: object
          required: [amount, parent]
          properties:
            amount: {type: integer, exclusiveMinimum: 10, multipleOf: 7}
            ignored: {type: string}
            parent: {$ref: '#/components/schemas/Payment'}
        - type: object
          required: [id, zip, on]
          properties:
            id: {type: string, format: uuid}
            zip: {type: [string, "null"], minLength: 8}
            on: {type: string, default: yes}
)";

TEST(OpenApi, makes_requests_of_every_POST_and_PATCH) {
  const auto operations = read_openapi(kYaml, "");
  ASSERT_TRUE(operations) << operations.error();
  ASSERT_EQ(operations->size(), 3U);
  const ApiOperation& pay = operations->at(0);
  EXPECT_EQ(pay.id, "pay");
  EXPECT_EQ(pay.request.url.text(), "http://127.0.0.1:8080/v1/orders/{{uuid}}/payments?mode=live");
  EXPECT_EQ(*find_header(pay.request.headers, "X-Trace"), "t1");
  EXPECT_TRUE(is_json(pay.request));
  EXPECT_NE(pay.request.body.find(R"("amount":14)"), std::string::npos) << pay.request.body;
  EXPECT_NE(pay.request.body.find(R"("zip":"probexxx","on":"yes")"), std::string::npos) << pay.request.body;
  EXPECT_EQ(pay.request.body.find("ignored"), std::string::npos);
  const ApiOperation& form = operations->at(1);
  EXPECT_EQ(form.id, "PATCH /forms");
  EXPECT_EQ(form.request.body, "amount=50&card%5Bnumber%5D=4242%204242&tags%5B%5D=a");
  EXPECT_NE(operations->at(2).unusable, "");
}

TEST(OpenApi, takes_the_server_that_is_given) {
  const auto operations =
      read_openapi(R"({"openapi":"3.0.0","paths":{"/a":{"post":{}}}})", "http://127.0.0.1:81/base/");
  ASSERT_TRUE(operations) << operations.error();
  EXPECT_EQ(operations->front().request.url.text(), "http://127.0.0.1:81/base/a");
  EXPECT_NE(read_openapi(R"({"openapi":"3.0.0","paths":{}})", "").error().find("--server"),
            std::string::npos);
}

TEST(OpenApi, reads_the_older_form) {
  const auto operations = read_openapi(
      R"({"swagger":"2.0","host":"127.0.0.1:8080","basePath":"/v2","schemes":["http"],"paths":{"/pets":{"post":{
          "parameters":[{"in":"body","name":"pet","schema":{"type":"object","required":["name"],
          "properties":{"name":{"type":"string","example":"Rex"}}}}]}}}})",
      "");
  ASSERT_TRUE(operations) << operations.error();
  EXPECT_EQ(operations->front().request.url.text(), "http://127.0.0.1:8080/v2/pets");
  EXPECT_EQ(operations->front().request.body, R"({"name":"Rex"})");
}

TEST(OpenApi, reads_a_document_of_the_size_and_manner_of_public_ones) {
  std::ifstream file(STET_EXAMPLES "/openapi/shop.json");
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  const auto operations = read_openapi(text, "");
  ASSERT_TRUE(operations) << operations.error();
  ASSERT_EQ(operations->size(), 6U);
  const Request& order = operations->at(0).request;
  EXPECT_EQ(order.url.text(), "https://eu.shop.example/v2/checkout/orders");
  EXPECT_EQ(*find_header(order.headers, "Shop-Request-Id"), "{{uuid}}");
  EXPECT_EQ(order.body,
            R"({"intent":"CAPTURE","purchase_units":[{"amount":{"currency_code":"EUR","value":"49.00"}}],)"
            R"("payment_source":{"number":"4111111111111111"},"ship_to":{"country_code":"DE"}})");
  const Request& patch = operations->at(1).request;
  EXPECT_EQ(patch.method, "PATCH");
  EXPECT_EQ(patch.url.target, "/v2/checkout/orders/5O190127TN364715T");
  EXPECT_EQ(patch.body, R"([{"op":"replace","path":"/intent","value":"AUTHORIZE"}])");
  EXPECT_EQ(operations->at(3).request.body, "charge=ch_1&amount=1");
  EXPECT_EQ(operations->at(4).id, "disputes.evidence");
  EXPECT_NE(operations->at(4).unusable, "");
  EXPECT_EQ(operations->at(5).request.body,
            R"({"url":"https://example.com/{{n}}","event_types":[{"name":"*"}]})");
}

TEST(OpenApi, says_what_is_wrong_with_a_document) {
  EXPECT_NE(read_openapi("a: [1,\n b: }", "http://h").error().find("line "), std::string::npos);
  EXPECT_NE(read_openapi("just text", "http://h").error().find("paths"), std::string::npos);
  EXPECT_FALSE(read_openapi(std::string(5'000, '['), "http://h"));
}

TEST(OpenApi, ends_circles_of_references) {
  const auto operations = read_openapi(
      R"({"openapi":"3.0.0","components":{"schemas":{"A":{"$ref":"#/components/schemas/B"},"B":{"$ref":"#/components/schemas/A"}}},
          "paths":{"/a":{"post":{"requestBody":{"content":{"application/json":{"schema":{"$ref":"#/components/schemas/A"}}}}}}}})",
      "http://h");
  ASSERT_TRUE(operations) << operations.error();
  EXPECT_EQ(operations->front().request.body, "null");
}

}  // namespace
}  // namespace stet::probe
