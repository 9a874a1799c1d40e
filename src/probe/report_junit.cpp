#include "probe/report.hpp"

namespace stet::probe {
namespace {

std::string xml(std::string_view text) {
  std::string out;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '&') {
      out += "&amp;";
    } else if (c == '<') {
      out += "&lt;";
    } else if (c == '>') {
      out += "&gt;";
    } else if (c == '"') {
      out += "&quot;";
    } else if (byte < ' ' && c != '\n' && c != '\t') {
      out += '?';  // not allowed in XML 1.0, in any spelling
    } else {
      out += c;
    }
  }
  return out;
}

std::string test_case(const Report& report, const Finding& finding) {
  std::string out =
      "    <testcase classname=\"" + xml(report.target) + "\" name=\"" + xml(finding.check) + "\"";
  std::string detail = "did: " + finding.did + "\nexpected: " + finding.expected + "\nsaw: " + finding.saw;
  for (const std::string& line : finding.reproduce) detail += "\n" + line;
  switch (finding.result) {
    case Result::pass:
      return out + "/>\n";
    case Result::skip:
      return out + "><skipped message=\"" + xml(finding.saw) + "\"/></testcase>\n";
    case Result::warn:
      return out + "><system-out>warning: " + xml(finding.saw) + "</system-out></testcase>\n";
    case Result::fail:
      return out + "><failure message=\"" + xml(finding.worst) + "\">" + xml(detail) +
             "</failure></testcase>\n";
  }
  return out;
}

}  // namespace

std::string to_junit(const std::vector<Report>& reports) {
  std::string out = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"stet probe\">\n";
  for (const Report& report : reports) {
    const bool ended_early = !report.no_verdict.empty();
    out += "  <testsuite name=\"" + xml(report.target) + "\" timestamp=\"" + report.started + "\" tests=\"" +
           std::to_string(report.findings.size() + (ended_early ? 1 : 0)) + "\" failures=\"" +
           std::to_string(report.count(Result::fail)) + "\" errors=\"" + (ended_early ? "1" : "0") +
           "\" skipped=\"" + std::to_string(report.count(Result::skip)) + "\">\n";
    for (const Finding& finding : report.findings) out += test_case(report, finding);
    if (ended_early) {
      out += "    <testcase classname=\"" + xml(report.target) + "\" name=\"verdict\"><error message=\"" +
             xml(report.no_verdict) + "\"/></testcase>\n";
    }
    out += "    <system-out>" + xml(report.verdict()) + "</system-out>\n  </testsuite>\n";
  }
  return out + "</testsuites>\n";
}

}  // namespace stet::probe
