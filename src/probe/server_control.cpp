#include "probe/server_control.hpp"

#include <thread>

#include "probe/interruption.hpp"

namespace stet::probe {
namespace {

constexpr std::chrono::milliseconds kPoll{10};
constexpr std::chrono::seconds kDying{
    5};  // after which a port that still answers belongs to a supervisor's new process

}  // namespace

ServerControl::ServerControl(const Settings& settings)
    : url_(settings.request.url),
      kill_command_(settings.kill_command),
      owner_(settings.exec_command.empty() ? Owner::user : Owner::probe) {
  if (owner_ == Owner::probe) {
    process_.emplace(settings.exec_command, ServerProcess::AtEnd::stop);
  } else if (!settings.start_command.empty()) {
    process_.emplace(settings.start_command, ServerProcess::AtEnd::leave_running);
  }
}

ServerControl::~ServerControl() {
  if (owner_ == Owner::user && process_ && state_ == State::killed) process_->start();
}

bool ServerControl::answers() const {
  return Wire::open_plain({url_.host, url_.port}, Clock::now() + std::chrono::seconds(1)).has_value();
}

std::string ServerControl::start(Deadline deadline) {
  if (owner_ == Owner::user) return {};
  if (answers())
    return "something else already listens on " + url_.authority() + ", where --exec should start the API";
  process_->start();
  return wait_until_up(deadline);
}

std::string ServerControl::kill(Deadline deadline) {
  if (owner_ == Owner::probe) {
    process_->kill();
    return {};
  }
  state_ = State::killed;
  const CommandResult result = run_command(kill_command_, deadline);
  if (result.end == CommandResult::End::timed_out) return "the --kill command did not end in time";
  if (result.exit_code != 0) {
    state_ = State::as_found;
    return "the --kill command exited with " + std::to_string(result.exit_code) + ": " +
           result.output.substr(0, 300);
  }
  const Deadline dead = std::min(deadline, Clock::now() + kDying);
  while (answers() && Clock::now() < dead) std::this_thread::sleep_for(kPoll);
  return {};
}

std::string ServerControl::restart(Deadline deadline) {
  if (process_) process_->start();
  state_ = State::as_found;
  return wait_until_up(deadline);
}

std::string ServerControl::wait_until_up(Deadline deadline) {
  while (!answers()) {
    // A --start command may have put the server in the background and ended; an --exec command may not.
    const bool died = owner_ == Owner::probe && !process_->running();
    if (died || interrupted() || Clock::now() >= deadline) {
      const std::string output = process_ ? process_->last_output() : "";
      return (died ? "the --exec command ended before it listened on " : "nothing came up in time on ") +
             url_.authority() + (output.empty() ? "" : "; its output ends: " + output);
    }
    std::this_thread::sleep_for(kPoll);
  }
  return {};
}

}  // namespace stet::probe
