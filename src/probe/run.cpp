#include "probe/run.hpp"

#include <algorithm>
#include <ctime>

#include "probe/effects_sink.hpp"
#include "probe/interruption.hpp"

namespace stet::probe {
namespace {

constexpr std::chrono::seconds kComeUp{30};

std::string now_rfc3339() {
  const std::time_t now = std::time(nullptr);
  std::tm parts{};
  ::gmtime_r(&now, &parts);
  std::string text(32, '\0');
  text.resize(std::strftime(text.data(), text.size(), "%Y-%m-%dT%H:%M:%SZ", &parts));
  return text;
}

bool contains(const std::vector<std::string>& list, std::string_view what) {
  return std::ranges::find(list, what) != list.end();
}

std::vector<const Check*> chosen(const Settings& settings) {
  std::vector<const Check*> checks;
  for (const Check* check : all_checks()) {
    const bool wanted = settings.only.empty() || contains(settings.only, check->name);
    if (wanted && !contains(settings.skip, check->name)) checks.push_back(check);
  }
  return checks;
}

// Null when nothing counts effects.
std::unique_ptr<Effects> make_effects(const Settings& settings) {
  const EffectsSource& source = settings.effects;
  if (!source.sink.empty()) {
    const auto where = parse_endpoint(source.sink);
    if (!where) throw NoVerdict(where.error());
    auto sink = std::make_unique<EffectsSink>(*where);
    const std::string url = "http://" + sink->endpoint().host + ":" + std::to_string(sink->endpoint().port);
    ::setenv("STET_PROBE_SINK", url.c_str(),
             1);  // for --exec and --start, before there is a second thread that reads it
    return sink;
  }
  if (!source.command.empty()) return effects_of_command(source.command);
  if (source.request.empty()) return nullptr;
  auto request = parse_request_line(source.request, "GET", settings.request.url);
  if (!request) throw NoVerdict(request.error());
  // The caller's own credentials, so that an answer that is filtered by caller counts.
  for (const Header& header : settings.request.headers) {
    if (!same_name(header.name, "Content-Type")) request->headers.push_back(header);
  }
  return effects_of_request(*request, {source.pointer, source.header});
}

// In a curl line a secret becomes '"$NAME"', which ends the single quotes around it, so that the line still
// works in a shell that has it; elsewhere $NAME.
void hide_secrets(const Settings& settings, Finding& finding) {
  const auto hide = [](std::string& text, const std::string& value, const std::string& shown) {
    for (std::size_t at = text.find(value); at != std::string::npos;
         at = text.find(value, at + shown.size())) {
      text.replace(at, value.size(), shown);
    }
  };
  for (const Settings::Secret& secret : settings.secrets) {
    for (std::string& line : finding.reproduce) hide(line, secret.value, "'\"$" + secret.name + "\"'");
    hide(finding.saw, secret.value, "$" + secret.name);
    hide(finding.worst, secret.value, "$" + secret.name);
  }
}

void run_checks(const Settings& settings, Subject& subject, Report& report, const Progress& progress) {
  const auto checks = chosen(settings);
  int number = 0;
  for (const Check* check : checks) {
    if (progress.before) progress.before(*check, ++number, static_cast<int>(checks.size()));
    subject.forget();
    Finding finding;
    try {
      finding = check->run(subject);
    } catch (const NoVerdict& trouble) {
      throw NoVerdict("during '" + std::string(check->name) + "': " + trouble.what());
    }
    finding.check = check->name;
    if (finding.result == Result::fail) finding.reproduce = subject.transcript();
    hide_secrets(settings, finding);
    report.findings.push_back(finding);
    if (progress.after) progress.after(finding);
  }
}

}  // namespace

Report run(const Settings& settings, const Progress& progress) {
  Report report;
  report.target = settings.label();
  report.started = now_rfc3339();
  if (!settings.unusable.empty()) {
    report.no_verdict = "no request could be made: " + settings.unusable;
    return report;
  }
  try {
    const Deadline end = Clock::now() + settings.timeout;
    const auto effects = make_effects(settings);
    report.oracle = effects ? Oracle::counted : Oracle::none;
    ServerControl server(settings);
    if (const std::string trouble = server.start(std::min(end, Clock::now() + kComeUp)); !trouble.empty()) {
      throw NoVerdict(trouble);
    }
    Subject subject(settings, effects.get(), server, end);
    subject.get_to_know();
    if (subject.unit() != 1) {
      report.notes.push_back("One plain request changed the count by " + std::to_string(subject.unit()) +
                             "; that is taken for one effect.");
    }
    run_checks(settings, subject, report, progress);
  } catch (const std::exception& trouble) {
    // Whatever failed then failed for that.
    report.no_verdict =
        interrupted() ? interruption() + " ended the run before the checks had ended" : trouble.what();
  }
  return report;
}

std::vector<std::string> unknown_checks(const Settings& settings) {
  std::vector<std::string> unknown;
  for (const auto* list : {&settings.only, &settings.skip}) {
    for (const std::string& name : *list) {
      if (find_check(name) == nullptr) unknown.push_back(name);
    }
  }
  return unknown;
}

}  // namespace stet::probe
