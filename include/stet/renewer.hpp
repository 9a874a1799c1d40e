#pragma once
// One thread that renews the leases of every operation that runs in this process, however long its phases
// take. A short lease is then no danger to slow work, and a crash is noticed soon.
//
// Owner: you; one a process is enough, and it outlives every run_phases. Threads: any. Not after fork(): its
// thread is not copied, so a child makes a renewer of its own.

#include <memory>

namespace stet {

namespace library {
class Renewing;
}

class Renewer {
 public:
  Renewer();
  ~Renewer();  // joins its thread
  Renewer(const Renewer&) = delete;
  Renewer& operator=(const Renewer&) = delete;

 private:
  friend class library::Renewing;
  class Thread;
  std::unique_ptr<Thread> thread_;
};

}  // namespace stet
