#include "probe/curl_line.hpp"

#include <gtest/gtest.h>

namespace stet::probe {
namespace {

// As browsers' developer tools copy it.
TEST(ParseCurl, reads_what_a_browser_copies) {
  const auto request = parse_curl(
      "curl 'http://127.0.0.1:8080/charges?dry=1' \\\n"
      "  -H 'Accept: application/json, text/plain, */*' \\\n"
      "  -H 'Accept-Language: en-GB,en;q=0.9' \\\n"
      "  -H 'Authorization: Bearer t' \\\n"
      "  -H 'Content-Type: application/json' \\\n"
      "  -H 'sec-ch-ua: \"Chromium\";v=\"130\"' \\\n"
      "  -H 'Connection: keep-alive' \\\n"
      "  -b 'session=1; theme=dark' \\\n"
      "  --data-raw $'{\"amount\":4900,\"note\":\"it\\'s \\u00e9t\\u00e9\"}' \\\n"
      "  --compressed --insecure");
  ASSERT_TRUE(request) << request.error();
  EXPECT_EQ(request->method, "POST");
  EXPECT_EQ(request->url.target, "/charges?dry=1");
  EXPECT_EQ(request->body, "{\"amount\":4900,\"note\":\"it's \xc3\xa9t\xc3\xa9\"}");
  EXPECT_EQ(*find_header(request->headers, "cookie"), "session=1; theme=dark");
  EXPECT_EQ(*find_header(request->headers, "sec-ch-ua"), "\"Chromium\";v=\"130\"");
  EXPECT_EQ(find_header(request->headers, "Connection"), nullptr);
}

TEST(ParseCurl, joins_data_as_a_form_unless_it_is_json) {
  const auto form = parse_curl("curl -sSXPUT -d a=1 -d b=2 --data-urlencode 'c=x y' localhost:81/f");
  ASSERT_TRUE(form) << form.error();
  EXPECT_EQ(form->method, "PUT");
  EXPECT_EQ(form->url.text(), "http://localhost:81/f");
  EXPECT_EQ(form->body, "a=1&b=2&c=x%20y");
  EXPECT_EQ(*find_header(form->headers, "Content-Type"), "application/x-www-form-urlencoded");
  const auto json = parse_curl("curl --json '{\"a\":1}' --url http://h/x -u me:secret");
  ASSERT_TRUE(json) << json.error();
  EXPECT_EQ(*find_header(json->headers, "Content-Type"), "application/json");
  EXPECT_EQ(*find_header(json->headers, "Authorization"), "Basic bWU6c2VjcmV0");
}

TEST(ParseCurl, names_what_it_does_not_understand) {
  EXPECT_NE(parse_curl("curl -F file=@x http://h/").error().find("-F"), std::string::npos);
  EXPECT_NE(parse_curl("curl --proxy-ntlm http://h/").error().find("--proxy-ntlm"), std::string::npos);
  EXPECT_NE(parse_curl("curl 'http://h/").error().find("quote"), std::string::npos);
  EXPECT_NE(parse_curl("wget http://h/").error().find("curl"), std::string::npos);
  EXPECT_NE(parse_curl("curl -d x").error().find("URL"), std::string::npos);
  EXPECT_NE(parse_curl("curl http://h/ -H").error().find("-H"), std::string::npos);
}

TEST(CurlLine, is_read_back_as_the_same_request) {
  Request request;
  request.method = "PATCH";
  request.url = parse_url("http://127.0.0.1:8080/a?b=c&d='e'").value();
  request.headers = {
      {"Content-Type", "application/octet-stream"}, {"X-Odd", "it's \"x\" \\ $HOME"}, {"X-Empty", ""}};
  for (const std::string& body :
       {std::string("plain"), std::string("it's"), std::string("\x00\x01\xff'\\n", 6), std::string()}) {
    request.body = body;
    const auto back = parse_curl(curl_line(request));
    ASSERT_TRUE(back) << back.error();
    EXPECT_EQ(back->method, request.method);
    EXPECT_EQ(back->url.text(), request.url.text());
    EXPECT_EQ(back->headers, request.headers);
    EXPECT_EQ(back->body, request.body);
  }
}

}  // namespace
}  // namespace stet::probe
