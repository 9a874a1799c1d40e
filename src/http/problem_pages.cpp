#include "http/problem_pages.hpp"

#include "http/problem.hpp"

namespace stet::http {

namespace {

constexpr Problem kLast = Problem::still_running;

constexpr std::string_view kStyle =
    "<style>:root{color-scheme:light dark}body{font:1rem/1.6 system-ui,sans-serif;max-width:42rem;"
    "margin:3rem auto;padding:0 1rem;overflow-wrap:anywhere}h1{line-height:1.2;text-wrap:balance}"
    "code{font-size:.95em}h2{font-size:1.1rem;margin:1.8rem 0 0}h2+p{margin-top:.2rem}"
    "dl{display:grid;grid-template-columns:max-content 1fr;gap:.45rem 1.5rem}dd{margin:0}"
    "nav{display:flex;flex-wrap:wrap;gap:.3rem 1.5rem;margin-top:3rem}"
    "@media(max-width:36rem){dl{display:block}dd{margin-bottom:.8rem}}</style>";

constexpr std::string_view kContractLink =
    "<a href=\"/.well-known/stet/contract\">What is promised for each route</a>";

void append_escaped(std::string& out, std::string_view text) {
  for (const char c : text) {
    switch (c) {
      case '&':
        out.append("&amp;");
        break;
      case '<':
        out.append("&lt;");
        break;
      case '>':
        out.append("&gt;");
        break;
      case '"':
        out.append("&quot;");
        break;
      default:
        out += c;
    }
  }
}

// Our own texts mark code with backquotes.
void append_prose(std::string& out, std::string_view text) {
  bool code = false;
  for (const char c : text) {
    if (c == '`') {
      out.append(code ? "</code>" : "<code>");
      code = !code;
    } else {
      append_escaped(out, {&c, 1});
    }
  }
}

void append_section(std::string& out, std::string_view heading, std::string_view text) {
  out.append("<h2>").append(heading).append("</h2>\n<p>");
  append_prose(out, text);
  out.append("</p>\n");
}

std::string open_page(std::string_view title) {
  std::string out =
      "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta name=\"viewport\" content=\"width=device-width\">\n<title>";
  append_escaped(out, title);
  out.append(" – Stet</title>\n").append(kStyle).append("\n</head>\n<body>\n<h1>");
  append_escaped(out, title);
  out.append("</h1>\n");
  return out;
}

}  // namespace

std::optional<Problem> problem_named(std::string_view text) {
  for (int i = 0; i <= static_cast<int>(kLast); ++i) {
    const auto problem = static_cast<Problem>(i);
    if (name(problem) == text) return problem;
  }
  return std::nullopt;
}

std::string problem_page(Problem problem) {
  const ProblemText& text = problem_text(problem);
  std::string out = open_page(title_of(problem));
  out.append("<p><code>").append(name(problem)).append("</code>, status ");
  out.append(std::to_string(status_of(problem))).append("</p>\n");
  append_section(out, "What happened", text.happened);
  append_section(out, "Is it safe to send it again?", text.safe_to_retry);
  append_section(out, "What to do", text.what_to_do);
  out.append("<nav><a href=\"/.well-known/stet/problems/\">All problems</a>").append(kContractLink);
  out.append("</nav>\n</body>\n</html>\n");
  return out;
}

std::string problem_index_page() {
  std::string out = open_page("Problems");
  out.append("<dl>\n");
  for (int i = 0; i <= static_cast<int>(kLast); ++i) {
    const auto problem = static_cast<Problem>(i);
    out.append("<dt><a href=\"").append(type_of(problem)).append("\"><code>").append(name(problem));
    out.append("</code></a></dt><dd>").append(std::to_string(status_of(problem))).append(": ");
    append_escaped(out, title_of(problem));
    out.append("</dd>\n");
  }
  out.append("</dl>\n<nav>").append(kContractLink).append("</nav>\n</body>\n</html>\n");
  return out;
}

}  // namespace stet::http
