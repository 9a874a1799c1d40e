#include "probe/report.hpp"

namespace stet::probe {
namespace {

std::string cell(const std::string& text) {
  std::string out;
  for (const char c : text) {
    if (c == '|' || c == '<' || c == '*' || c == '_' || c == '`') out += '\\';
    out += c == '\n' || c == '\r' ? ' ' : c;
  }
  return out;
}

}  // namespace

std::string to_markdown(const std::vector<Report>& reports) {
  std::string out;
  for (const Report& report : reports) {
    out += "## " + cell(report.target) + "\n\n**" + cell(report.verdict()) + "**\n\n";
    if (!report.findings.empty()) out += "| | check | did | saw |\n| --- | --- | --- | --- |\n";
    for (const Finding& finding : report.findings) {
      const bool failed = finding.result == Result::fail;
      out += "| " + (failed ? "**fail**" : std::string(name(finding.result))) + " | " + finding.check +
             " | " + cell(finding.did) + " | " + cell((failed ? finding.worst + ". " : "") + finding.saw) +
             " |\n";
    }
    for (const Finding& finding : report.findings) {
      if (finding.reproduce.empty()) continue;
      out += "\n<details><summary>" + finding.check + "</summary>\n\n````sh\n";
      for (const std::string& line : finding.reproduce) out += line + "\n";
      out += "````\n\n</details>\n";
    }
    out += "\n";
  }
  return out;
}

}  // namespace stet::probe
