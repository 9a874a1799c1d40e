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
  return pass({});
}

std::size_t Completer::pass(const std::stop_token& stop) {
  std::size_t finished = 0;
  Filter lapsed;
  lapsed.state = State::pending;
  lapsed.lease = Filter::Lease::lapsed;
  std::string cursor;
  do {
    const Page page = pool_.list(lapsed, kPage, cursor);
    for (const Record& record : page.records) {
      if (stop.stop_requested()) return finished;
      if (is_ours(record) && finish(record)) ++finished;
    }
    cursor = page.next;
  } while (!cursor.empty());
  return finished;
}

bool Completer::finish(const Record& record) {
  std::string why = "what it threw is no exception";
  try {
    const auto phases = resume_(record);
    if (!phases) return false;
    const Intent intent{record.token.scope, record.token.key, record.fingerprint, record.method, record.path};
    return run_phases(pool_, renewer_, intent, options_.phases, *phases).ending == Ending::ran;
  } catch (const std::exception& error) {
    why = error.what();
  } catch (...) {  // of yours, whatever it is: the others are still to be finished
  }
  if (options_.notice)
    options_.notice("operation " + record.id().text() + " could not be finished now: " + why);
  return false;
}

void Completer::run(const std::stop_token& stop) {
  while (!stop.stop_requested()) {
    try {
      pass(stop);
    } catch (const std::exception& error) {
      if (options_.notice) options_.notice(std::string("no operation could be completed: ") + error.what());
    }
    library::pause(stop, options_.every);
  }
}

}  // namespace stet
