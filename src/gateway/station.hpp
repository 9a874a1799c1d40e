#pragma once
// One worker with all that a request needs there. Of the worker's thread.

#include "gateway/shared.hpp"
#include "gateway/snapshot.hpp"
#include "gateway/upstream_pool.hpp"
#include "gateway/worker.hpp"

namespace stet::gateway {

struct Station {
  Station(Shared& shared_parts, SnapshotPtr first) :
      shared(shared_parts), snapshot(std::move(first)), upstreams(worker, shared.metrics.process) {
    upstreams.use(snapshot->tls());
  }
  // Connections first, then the worker with the coroutines that it still holds, then the pool that they refer to.
  ~Station() { upstreams.clear(); }

  // The upstream whose turn it is.
  const config::UpstreamUrl& next_upstream(const Snapshot& of) {
    const auto& all = of.config().upstream;
    if (all.size() == 1) return all.front();
    return all[shared.next_upstream.fetch_add(1, std::memory_order_relaxed) % all.size()];
  }

  Shared& shared;
  SnapshotPtr snapshot;  // for requests that come now
  UpstreamPool upstreams;
  Worker worker;
};

}  // namespace stet::gateway
