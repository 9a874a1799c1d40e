#pragma once
// Kills and restarts the API under test, by the user's own commands or as a process of the probe's.

#include <optional>

#include "probe/process.hpp"
#include "probe/settings.hpp"

namespace stet::probe {

class ServerControl {
 public:
  explicit ServerControl(const Settings&);
  ServerControl(const ServerControl&) = delete;
  ServerControl& operator=(const ServerControl&) = delete;
  ~ServerControl();  // ends what --exec has started; starts again what --kill has killed

  bool can_kill() const { return process_.has_value() || !kill_command_.empty(); }

  // Each is empty when it worked, else what went wrong.
  std::string start(Deadline);    // for --exec, before the first request
  std::string kill(Deadline);     // returns when the port no longer answers (or a supervisor was faster)
  std::string restart(Deadline);  // returns when the port answers

 private:
  std::string wait_until_up(Deadline);
  bool answers() const;

  Url url_;
  std::string kill_command_;
  std::optional<ServerProcess> process_;  // --exec, or --start after a kill
  enum class Owner : std::uint8_t { probe, user } owner_;
  enum class State : std::uint8_t { as_found, killed } state_ = State::as_found;
};

}  // namespace stet::probe
