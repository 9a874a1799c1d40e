#pragma once
// A door that one coroutine waits at and somebody on the same thread opens, once.

#include <boost/asio/async_result.hpp>
#include <memory>

#include "gateway/asio.hpp"

namespace stet::gateway {

class Gate {
 public:
  bool is_open() const { return open_; }
  // Whoever waits goes on within this call: make it the last thing that you do.
  void open() {
    open_ = true;
    if (auto waiter = std::move(waiter_)) waiter->wake();
  }
  Task<void> wait() {
    if (open_) co_return;
    co_await asio::async_initiate<const asio::use_awaitable_t<Executor>, void()>(
        [this](auto handler) {
          waiter_ = std::make_unique<WaiterOf<decltype(handler)>>(std::move(handler));
        },
        as_task);
  }

 private:
  struct Waiter {
    virtual ~Waiter() = default;
    virtual void wake() = 0;
  };
  template <class Handler>
  struct WaiterOf final : Waiter {
    explicit WaiterOf(Handler h) : handler(std::move(h)) {}
    void wake() override { std::move(handler)(); }
    Handler handler;
  };

  bool open_ = false;
  std::unique_ptr<Waiter> waiter_;
};

}  // namespace stet::gateway
