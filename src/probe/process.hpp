#pragma once
// Shell commands: one that prints a number, one that kills a server, one that is the server.

#include <sys/types.h>

#include <string>

#include "probe/wire.hpp"

namespace stet::probe {

struct CommandResult {
  int exit_code = 0;   // 128 + signal where one ended it
  std::string output;  // stdout and stderr
  enum class End : std::uint8_t { exited, timed_out } end = End::exited;
};

// Runs `sh -c command` in a process group of its own, which is killed at the deadline
// and when the run is interrupted.
CommandResult run_command(const std::string& command, Deadline);

// A long-running command in a process group of its own, its output kept for the moment when it does not come
// up.
class ServerProcess {
 public:
  enum class AtEnd : std::uint8_t { stop, leave_running };
  ServerProcess(std::string command, AtEnd at_end) : command_(std::move(command)), at_end_(at_end) {}
  ServerProcess(const ServerProcess&) = delete;
  ServerProcess& operator=(const ServerProcess&) = delete;
  ~ServerProcess();

  void start();
  void kill();     // SIGKILL to the whole group, and waits for its end
  bool running();  // the command itself: it may have ended and left others of its group behind
  std::string last_output() const;

 private:
  bool group_ends(Deadline) const;

  std::string command_;
  AtEnd at_end_;
  pid_t group_ = -1;   // -1 before the start and after a kill
  pid_t leader_ = -1;  // its first process; -1 once that has ended
  int log_ = -1;
};

}  // namespace stet::probe
