#include "probe/report.hpp"

namespace stet::probe {
namespace {

constexpr std::size_t kNameWidth = 17;  // the longest name and a space

std::string painted(std::string_view text, Result result, Colour colour) {
  if (colour == Colour::no) return std::string(text);
  const char* code = result == Result::pass   ? "\x1b[32m"
                     : result == Result::fail ? "\x1b[1;31m"
                     : result == Result::warn ? "\x1b[33m"
                                              : "\x1b[2m";
  return code + std::string(text) + "\x1b[0m";
}

}  // namespace

std::string text_heading(const Report& report) {
  return "Is it safe to retry?  " + report.target + "\n\n";
}

std::string text_finding(const Finding& finding, Colour colour) {
  std::string label = finding.check;
  label.resize(std::max(label.size() + 1, kNameWidth), ' ');
  const std::string head = "  " + painted(name(finding.result), finding.result, colour) + "  " + label;
  if (finding.result == Result::skip) return head + finding.saw + "\n";
  if (finding.result == Result::pass) return head + finding.did + ": " + finding.saw + "\n";
  const std::string indent(2 + 4 + 2 + kNameWidth, ' ');
  std::string text = head + (finding.result == Result::fail ? finding.worst : finding.did) + "\n";
  if (finding.result == Result::fail) text += indent + "did       " + finding.did + "\n";
  text += indent + "expected  " + finding.expected + "\n" + indent + "saw       " + finding.saw + "\n";
  for (const std::string& line : finding.reproduce) text += indent + "  " + line + "\n";
  return text;
}

std::string text_ending(const Report& report, Colour colour) {
  std::string text = "\n";
  for (const std::string& note : report.notes) text += note + "\n";
  const Result mood = report.has_failed()         ? Result::fail
                      : report.no_verdict.empty() ? Result::pass
                                                  : Result::warn;
  if (report.has_failed()) {
    std::string names;
    for (const Finding& finding : report.findings) {
      if (finding.result == Result::fail) names += (names.empty() ? "" : ", ") + finding.check;
    }
    text += "Why each matters and how it is fixed: stet probe --explain CHECK (failed: " + names + ")\n";
  }
  return text + painted(report.verdict(), mood, colour) + "\n";
}

}  // namespace stet::probe
