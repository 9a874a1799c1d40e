#include "probe/command.hpp"

#include <csignal>

#include "probe/interruption.hpp"
#include "probe/run.hpp"

namespace stet::probe {
namespace {

int explain(const std::string& name, std::ostream& out, std::ostream& err) {
  if (const Check* check = find_check(name)) {
    out << check->name << ": " << check->question << "\n\n" << check->explanation << "\n";
    return 0;
  }
  err << "stet probe: there is no check '" << name << "'. There are:\n";
  for (const Check* check : all_checks()) err << "  " << check->name << "\n";
  return 2;
}

Expected<std::vector<Settings>, std::string> everything_to_probe(const Invocation& invocation) {
  if (invocation.suite.empty()) return settings_of(invocation.options);
  const auto suite = read_suite(invocation.suite);
  if (!suite) return tl::unexpected(suite.error());
  std::vector<Settings> all;
  for (const Options& options : *suite) {
    auto some = settings_of(options);
    if (!some) return tl::unexpected(some.error());
    std::move(some->begin(), some->end(), std::back_inserter(all));
  }
  return all;
}

void clear_ticker(const Invocation& invocation, std::ostream& err) {
  if (invocation.ticker == Invocation::Ticker::on) err << "\r\x1b[K" << std::flush;
}

}  // namespace

int execute(const Invocation& invocation, std::ostream& out, std::ostream& err) {
  if (!invocation.explain.empty()) return explain(invocation.explain, out, err);
  const auto targets = everything_to_probe(invocation);
  if (!targets) {
    err << "stet probe: " << targets.error() << (targets.error().ends_with('\n') ? "" : "\n");
    return 2;
  }
  const Interruptible interruptible;
  ::signal(SIGPIPE, SIG_IGN);  // OpenSSL writes without MSG_NOSIGNAL
  const bool text = invocation.format == Format::text;
  std::vector<Report> reports;
  for (const Settings& settings : *targets) {
    if (text) {
      Report heading;
      heading.target = settings.label();
      out << (reports.empty() ? "" : "\n") << text_heading(heading) << std::flush;
    }
    const Progress progress{[&](const Check& check, int number, int of) {
                              if (invocation.ticker == Invocation::Ticker::on) {
                                err << "\r\x1b[K  " << number << "/" << of << "  " << check.name << " …"
                                    << std::flush;
                              }
                            },
                            [&](const Finding& finding) {
                              clear_ticker(invocation, err);
                              if (text) out << text_finding(finding, invocation.colour) << std::flush;
                            }};
    reports.push_back(run(settings, progress));
    clear_ticker(invocation, err);
    if (text) out << text_ending(reports.back(), invocation.colour) << std::flush;
    if (interrupted()) break;
  }
  switch (invocation.format) {
    case Format::text:
      break;
    case Format::json:
      out << to_json(reports);
      break;
    case Format::junit:
      out << to_junit(reports);
      break;
    case Format::markdown:
      out << to_markdown(reports);
      break;
  }
  out << std::flush;
  return exit_code(reports);
}

}  // namespace stet::probe
