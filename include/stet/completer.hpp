#pragma once
// Finishes operations whose process died and whose client never came back.
//
// Owner: you. Threads: run() in one thread of yours (a std::jthread hands it the stop token); several
// processes may run one each, the lease decides who gets an operation.

#include <functional>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "stet/phases.hpp"

namespace stet {

struct CompleterOptions {
  milliseconds every = std::chrono::seconds(10);
  PhaseOptions phases{};
  // One line for your log: what a resumed operation threw, or why the store was not reached.
  std::function<void(std::string_view)> notice{};
};

class Completer {
 public:
  // The phases of a lapsed operation, from what your own rows say of it (the first phase stored them, under
  // the operation's id, its scope and key, or what it derived). The record comes without a body.
  // std::nullopt: not yours, or nothing to go on with; it is left for a retry.
  using Resume = std::function<std::optional<std::vector<Phase>>(const Record&)>;

  Completer(Pool&, Renewer&, Resume, CompleterOptions = {});

  // One pass over all lapsed operations: how many it brought to an end. What one of them throws goes to
  // `notice` and does not keep the others waiting. Throws StoreError.
  std::size_t run_once();
  // Passes, with `every` between them, until told to stop; it stops after the operation that it is at. Throws
  // nothing: trouble goes to `notice`.
  void run(const std::stop_token&);

 private:
  std::size_t pass(const std::stop_token&);
  bool finish(const Record&);

  Pool& pool_;
  Renewer& renewer_;
  Resume resume_;
  CompleterOptions options_;
};

}  // namespace stet
