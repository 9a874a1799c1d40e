#pragma once
// A connection that fork() has copied belongs to two processes, and each would hear the other's answers.

#include <unistd.h>

#include "stet/error.hpp"

namespace stet::stores {

class OwnProcess {
 public:
  bool is_this() const { return ::getpid() == pid_; }
  void must_be_this() const {
    if (is_this()) return;
    throw StoreError(StoreFailure::incompatible,
                     "this pool was made before fork(): a child makes one of its own");
  }

 private:
  const pid_t pid_ = ::getpid();
};

}  // namespace stet::stores
