#pragma once
// SIGINT, SIGTERM and SIGHUP: the run ends early, without a verdict, but in order: it is reported, and a
// server that the probe has started is ended with it.

#include <chrono>
#include <string>

namespace stet::probe {

// For its life the first such signal is an interruption, and a second one ends the process at once. One that
// was ignored before (nohup) stays ignored. One at a time; made before there are other threads.
class Interruptible {
 public:
  Interruptible();
  Interruptible(const Interruptible&) = delete;
  Interruptible& operator=(const Interruptible&) = delete;
  ~Interruptible();
};

// What follows may be called from any thread.
bool interrupted();
std::string interruption();  // its name, as SIGTERM; empty without one
int interruption_fd();       // readable, and stays so, once there was one; -1 without an Interruptible

// Sleeps, but not beyond an interruption.
void pause(std::chrono::milliseconds);

}  // namespace stet::probe
