#include "probe/json.hpp"
#include "probe/report.hpp"

namespace stet::probe {
namespace {

std::string one(const Report& report, const std::string& indent) {
  const std::string in = indent + "  ";
  std::string out = "{\n" + in + "\"target\": " + json_string(report.target) + ",\n" + in +
                    "\"started\": " + json_string(report.started) + ",\n" + in + "\"checks\": [";
  bool first = true;
  for (const Finding& finding : report.findings) {
    out += (first ? "\n" : ",\n") + in + "  {\"check\": " + json_string(finding.check) +
           ", \"result\": " + json_string(name(finding.result)) + ", \"did\": " + json_string(finding.did) +
           ", \"expected\": " + json_string(finding.expected) + ", \"saw\": " + json_string(finding.saw) +
           ", \"reproduce\": [";
    for (std::size_t i = 0; i < finding.reproduce.size(); ++i) {
      out += (i == 0 ? "" : ", ") + json_string(finding.reproduce[i]);
    }
    out += "]}";
    first = false;
  }
  return out + (first ? "" : "\n" + in) + "],\n" + in +
         "\"passed\": " + std::to_string(report.count(Result::pass)) + ",\n" + in +
         "\"failed\": " + std::to_string(report.count(Result::fail)) + ",\n" + in +
         "\"verdict\": " + json_string(report.verdict()) + "\n" + indent + "}";
}

}  // namespace

std::string to_json(const std::vector<Report>& reports) {
  if (reports.size() == 1) return one(reports.front(), "") + "\n";
  std::string out = "{\n  \"targets\": [";
  int passed = 0;
  int failed = 0;
  for (std::size_t i = 0; i < reports.size(); ++i) {
    out += (i == 0 ? "\n    " : ",\n    ") + one(reports[i], "    ");
    passed += reports[i].count(Result::pass);
    failed += reports[i].count(Result::fail);
  }
  const std::string verdict = exit_code(reports) == 0 ? "Nothing failed."
                              : exit_code(reports) == 1
                                  ? "NOT safe to retry: " + std::to_string(failed) + " checks failed."
                                  : "No verdict for every target.";
  return out + "\n  ],\n  \"passed\": " + std::to_string(passed) +
         ",\n  \"failed\": " + std::to_string(failed) + ",\n  \"verdict\": " + json_string(verdict) + "\n}\n";
}

}  // namespace stet::probe
