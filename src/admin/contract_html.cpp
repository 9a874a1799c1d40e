#include "admin/contract.hpp"
#include "admin/contract_terms.hpp"
#include "config/units.hpp"

namespace stet::admin {
namespace {

constexpr std::string_view kHead =
    "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
    "<meta name=\"viewport\" content=\"width=device-width\">\n<title>Retrying safely – Stet</title>\n"
    "<style>:root{color-scheme:light dark;--line:color-mix(in srgb,currentColor 18%,transparent)}"
    "body{font:1rem/1.6 system-ui,sans-serif;max-width:50rem;margin:3rem auto;padding:0 "
    "1rem;overflow-wrap:anywhere}"
    "code{font-size:.95em}h1{line-height:1.2}h2{font-size:1.15rem;margin:2.5rem 0 .3rem}"
    "table{border-collapse:collapse;width:100%}th,td{border-top:1px solid var(--line);padding:.45rem 0;"
    "text-align:left;vertical-align:top}th{width:12rem;padding-right:1rem;font-weight:600}"
    "@media(max-width:36rem){th,td{display:block;width:auto;padding:.2rem "
    "0}td{border:0;padding-bottom:.5rem}}"
    "</style>\n</head>\n<body>\n<h1>Retrying safely</h1>\n";

void append_prose(std::string& out, std::string_view text) {
  bool code = false;
  for (const char c : text) {
    switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      case '`':
        out += code ? "</code>" : "<code>";
        code = !code;
        break;
      default:
        out += c;
    }
  }
}

void append_paragraph(std::string& out, std::string_view text) {
  out += "<p>";
  append_prose(out, text);
  out += "</p>\n";
}

void append_row(std::string& out, std::string_view heading, std::string_view text) {
  out.append("<tr><th scope=\"row\">").append(heading).append("</th><td>");
  append_prose(out, text);
  out += "</td></tr>\n";
}

std::string code_list(const std::vector<std::string>& texts) {
  std::string list;
  for (const std::string& text : texts) list += (list.empty() ? "`" : ", `") + text + "`";
  return list.empty() ? "none" : list;
}

// "1 MiB"
std::string size_words(std::uint64_t bytes) {
  std::string text = config::size_text(bytes);
  const std::size_t unit = text.find_first_not_of("0123456789");
  return unit == std::string::npos ? text + " bytes" : text.insert(unit, " ");
}

std::string code(std::string_view text) {
  return "`" + std::string(text) + "`";
}

std::string key_words(const config::Route& route) {
  std::string words;
  const auto rules = key_rules(route);
  for (const KeyRule& rule : rules) {
    if (!words.empty()) words += ' ';
    const bool alone = rules.size() == 1 && route.match;
    if (!alone) words += code_list(rule.methods) + ": ";
    switch (rule.mode) {
      case config::KeyMode::required:
        words += alone ? "A key is required, in " : "a key is required, in ";
        words += key_place(route) + ".";
        break;
      case config::KeyMode::optional:
        words += alone ? "A key is taken in " : "a key is taken in ";
        words += key_place(route) + ". Without one the request is passed on unprotected.";
        break;
      case config::KeyMode::off:
        words +=
            alone ? "Passed on as it is, without protection." : "passed on as they are, without protection.";
        break;
    }
  }
  return words;
}

std::string after_words(const Terms& terms) {
  if (terms.tombstone.count() == 0) return "The key counts as new, and the request runs again.";
  return "For " + duration_words(terms.tombstone) +
         " more the key is refused with `key-expired`, so that a very late retry is no second effect. Then "
         "the key "
         "counts as new.";
}

std::string in_progress_words(const config::Route& route) {
  const std::string refused = std::to_string(route.status_in_progress) +
                              " `in-progress` with `Retry-After`; send it again after that";
  switch (route.policy.in_progress) {
    case InProgressMode::conflict:
      return refused + ".";
    case InProgressMode::wait:
      return "The retry waits up to " + duration_words(route.policy.wait) +
             " for the first one's answer. After that: " + refused + ".";
    case InProgressMode::accept:
      return "202 with a `Location` where the answer will be.";
  }
  return "";
}

std::string unknown_words(const config::Route& route) {
  if (route.policy.terms.on_unknown == OnUnknown::joined) {
    return "When the connection to the API breaks midway: the answer, if the API recorded it; else "
           "`upstream-unreachable` with `Stet-Outcome: not-executed`, and a retry runs.";
  }
  const std::string statuses = code_list(status_lists(route.policy.statuses).unknown);
  const std::string when = "When the connection to the API breaks midway, or it answers " + statuses + ": ";
  switch (route.policy.terms.on_unknown) {
    case OnUnknown::fail:
      return when +
             "`outcome-unknown`. Nothing runs again under this key until the operators of this API have "
             "looked.";
    case OnUnknown::retry:
      return when + "`outcome-unknown`. The next retry runs again, and the API recognises the key.";
    case OnUnknown::ask:
      return when +
             "`outcome-unknown`. With the next retry the API is asked what became of the first attempt.";
    case OnUnknown::joined:
      break;
  }
  return "";
}

std::string same_words(const config::FingerprintSettings& fingerprint) {
  std::string words =
      "Method, path with query, content type and body; in JSON, neither order nor spacing matter.";
  if (!fingerprint.headers.empty()) words += " Also the headers " + code_list(fingerprint.headers) + ".";
  if (!fingerprint.only.empty()) words += " Of the body only " + code_list(fingerprint.only) + ".";
  if (!fingerprint.ignore.empty()) words += " Of the body all but " + code_list(fingerprint.ignore) + ".";
  return words;
}

void append_keyed(std::string& out, const config::Route& route) {
  const Policy& policy = route.policy;
  const StatusLists statuses = status_lists(policy.statuses);
  append_row(
      out, "A retry gets",
      policy.terms.retention == kForever
          ? "the first answer, for good. Nothing runs twice."
          : "the first answer, for at least " + duration_words(policy.terms.retention) +
                " from when it was given. Nothing runs twice. `Stet-Replayable-Until` says until when.");
  if (policy.terms.retention != kForever) append_row(out, "After that", after_words(policy.terms));
  append_row(out, "While the first runs", in_progress_words(route));
  append_row(out, "A slow answer",
             "After " + duration_words(policy.response_timeout) +
                 (policy.in_progress == InProgressMode::accept ? ": 202 with a `Location`"
                                                               : ": 504 `still-running`") +
                 ". The answer is still kept when it comes within " +
                 duration_words(policy.completion_timeout) + ", and a retry gets it.");
  append_row(out, "Outcome unknown", unknown_words(route));
  if (policy.terms.on_unknown == OnUnknown::joined) {
    append_row(out, "Answers kept", "what the API records together with what it did, and any other success.");
    append_row(out, "Nothing happened", "any other answer: the key is free again, and a retry runs.");
  } else {
    append_row(out, "Answers kept",
               code_list(statuses.recorded) + ", except where a single status is named in another row.");
    append_row(out, "Nothing happened",
               code_list(statuses.released) + ": the key is free again, and a retry runs.");
  }
  append_row(out, "The same request",
             same_words(route.fingerprint) + " A different request under a used key: " +
                 std::to_string(route.status_key_reused) + " `key-reused`.");
  append_row(out, "Keys belong to", caller_words(route) + ".");
  append_row(out, "Sizes",
             "A request body of up to " + size_words(route.max_request_body) + ". Answers over " +
                 size_words(route.max_response_body) +
                 " are given once and not kept: a retry gets `answer-not-kept`.");
  if (policy.on_store_failure == OnStoreFailure::open) {
    append_row(out, "Limits of the promise",
               "When the gateway cannot record a request at all, it is passed on without protection "
               "(`Stet-Outcome: unprotected`).");
  }
}

void append_route(std::string& out, const config::Route& route, std::string_view title) {
  out += "<h2>";
  append_prose(out, title);
  out += "</h2>\n<table>\n";
  append_row(out, "Key", key_words(route));
  if (takes_keys(route)) append_keyed(out, route);
  out += "</table>\n";
}

}  // namespace

std::string contract_html(const config::Config& config) {
  std::string out(kHead);
  append_paragraph(
      out,
      "Give each thing that you want done one key of your own, a fresh UUID say, and keep it before you "
      "send. Send every retry of that one thing with the same key. Then it happens at most once, and "
      "every retry gets the answer of the first attempt.");
  for (const config::Route& route : config.routes) append_route(out, route, code(route.name));
  append_route(out, config.defaults, config.routes.empty() ? "All requests" : "All other requests");
  out +=
      "<p>Every error is a <a href=\"/.well-known/stet/problems/\">problem with a page of its own</a>, and "
      "says "
      "whether a retry is safe. This page as JSON: ask for <code>application/json</code>.</p>\n"
      "</body>\n</html>\n";
  return out;
}

}  // namespace stet::admin
