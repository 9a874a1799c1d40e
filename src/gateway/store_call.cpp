#include "gateway/store_call.hpp"

#include "gateway/gate.hpp"

namespace stet::gateway {
namespace {

// Where an answer is left for the coroutine that waits for it. Shared, so that a worker that ends first leaves no
// dangling reference with the store.
template <class T>
struct Pending {
  explicit Pending(Worker& on) : worker(on) {}
  Worker& worker;
  Gate gate;
  std::optional<T> answer;
};

template <class T>
auto leave_in(std::shared_ptr<Pending<T>> pending) {
  return [pending](T answer) {
    Worker& worker = pending->worker;
    worker.post([pending, answer = std::move(answer)] {
      pending->answer = answer;
      pending->gate.open();
    });
  };
}

template <class T>
Task<T> answer_of(std::shared_ptr<Pending<T>> pending) {
  co_await pending->gate.wait();
  co_return std::move(*pending->answer);
}

}  // namespace

Task<Store::Outcome> execute(Station& station, Command command) {
  const auto pending = std::make_shared<Pending<Store::Outcome>>(station.worker);
  station.shared.store.submit(std::move(command), leave_in(pending));
  co_return co_await answer_of(pending);
}

Task<Expected<std::optional<Record>, Store::Failed>> find(Station& station, OperationId id) {
  const auto pending = std::make_shared<Pending<Expected<std::optional<Record>, Store::Failed>>>(station.worker);
  station.shared.store.find(id, leave_in(pending));
  co_return co_await answer_of(pending);
}

Task<Expected<Page, Store::Failed>> list(Station& station, Filter filter, std::size_t limit, std::string cursor) {
  const auto pending = std::make_shared<Pending<Expected<Page, Store::Failed>>>(station.worker);
  station.shared.store.list(std::move(filter), limit, std::move(cursor), leave_in(pending));
  co_return co_await answer_of(pending);
}

}  // namespace stet::gateway
