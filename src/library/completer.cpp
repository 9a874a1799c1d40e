#include "stet/completer.hpp"

#include <utility>

#include "library/drive.hpp"
#include "library/pause.hpp"

namespace stet {
namespace {

constexpr std::size_t kPage = 100;

// A gateway on the same store has lapsed operations, too: those are its reconciler's.
bool is_ours(const Record& record) {
  return record.terms.scope_rule == library::kScopeRule;
}

}  // namespace

Completer::Completer(Pool& pool, Renewer& renewer, Resume resume, CompleterOptions options)
    : pool_(pool), renewer_(renewer), resume_(std::move(resume)), options_(std::move(options)) {}

std::size_t Completer::run_once() {
  std::size_t finished = 0;
  Filter lapsed;
  lapsed.state = State::pending;
  lapsed.lease = Filter::Lease::lapsed;
  std::string cursor;
  do {
    const Page page = pool_.list(lapsed, kPage, cursor);
    for (const Record& record : page.records) {
      if (!is_ours(record)) continue;
      const Intent intent{record.token.scope, record.token.key, record.fingerprint, record.method, record.path};
      try {
        const auto phases = resume_(record);
        if (!phases) continue;
        const RunResult result = run_phases(pool_, renewer_, intent, options_.phases, *phases);
        if (result.ending == Ending::ran) ++finished;
      } catch (const std::exception& error) {
        if (options_.notice) {
          options_.notice("operation " + record.id().text() + " could not be finished now: " + error.what());
        }
      }
    }
    cursor = page.next;
  } while (!cursor.empty());
  return finished;
}

void Completer::run(const std::stop_token& stop) {
  while (!stop.stop_requested()) {
    try {
      run_once();
    } catch (const std::exception& error) {
      if (options_.notice) options_.notice(std::string("no operation could be completed: ") + error.what());
    }
    library::pause(stop, options_.every);
  }
}

}  // namespace stet
