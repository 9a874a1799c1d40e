#include "probe/finding.hpp"

#include <algorithm>

namespace stet::probe {

std::string_view name(Result result) {
  switch (result) {
    case Result::pass:
      return "pass";
    case Result::fail:
      return "fail";
    case Result::warn:
      return "warn";
    case Result::skip:
      return "skip";
  }
  return "";
}

int Report::count(Result result) const {
  return static_cast<int>(std::ranges::count(findings, result, &Finding::result));
}

std::string Report::verdict() const {
  const int failed = count(Result::fail);
  const int ran = static_cast<int>(findings.size()) - count(Result::skip);
  if (failed > 0) {
    const auto worst = std::ranges::max_element(findings, {}, &Finding::harm);
    return "NOT safe to retry: " + std::to_string(failed) + " of " + std::to_string(ran) +
           (ran == 1 ? " check failed." : " checks failed.") + " The worst: " + worst->worst + "." +
           (no_verdict.empty() ? "" : " The run was not finished: " + no_verdict);
  }
  if (!no_verdict.empty()) return "No verdict: " + no_verdict;
  if (ran == 0) return "No verdict: no check could run.";
  std::string text =
      oracle == Oracle::counted ? "Safe to retry, as far as " : "Nothing wrong in the answers of ";
  text += std::to_string(ran) + (ran == 1 ? " check" : " checks");
  text += oracle == Oracle::counted ? " can tell" : "";
  const int warned = count(Result::warn);
  const int skipped = count(Result::skip);
  if (warned > 0) text += "; " + std::to_string(warned) + " gave a warning";
  if (skipped > 0) text += "; " + std::to_string(skipped) + " skipped";
  text += ".";
  if (oracle == Oracle::none) {
    text +=
        " Much weaker than it could be: nothing counted the effects, so an API that acts twice and answers "
        "alike "
        "would not be noticed (--effects, --effects-cmd or --effects-sink).";
  }
  return text;
}

int exit_code(const std::vector<Report>& reports) {
  const auto failed = [](const Report& report) { return report.has_failed(); };
  const auto undecided = [](const Report& report) {
    return !report.no_verdict.empty() ||
           report.count(Result::skip) == static_cast<int>(report.findings.size());
  };
  if (std::ranges::any_of(reports, failed)) return 1;
  return reports.empty() || std::ranges::any_of(reports, undecided) ? 3 : 0;
}

}  // namespace stet::probe
