#include "library/renewer_thread.hpp"

#include <algorithm>
#include <utility>

namespace stet {
namespace {

// How long the thread sleeps when nothing has to be renewed, at the most.
constexpr std::chrono::seconds kIdle(60);

}  // namespace

Renewer::Thread::Thread() : thread_([this](const std::stop_token& stop) { run(stop); }) {}

void Renewer::Thread::add(const std::shared_ptr<library::Drive>& drive) {
  const std::lock_guard lock(mutex_);
  drives_.push_back(drive);
  changed_ = true;
  wake_.notify_one();
}

void Renewer::Thread::remove(const std::shared_ptr<library::Drive>& drive) {
  std::unique_lock lock(mutex_);
  std::erase(drives_, drive);
  // The caller may destroy the store next.
  woken_.wait(lock, [&] { return waking_ != drive; });
}

void Renewer::Thread::run(const std::stop_token& stop) {
  std::unique_lock lock(mutex_);
  while (!stop.stop_requested()) {
    changed_ = false;
    const auto drives = drives_;
    MonoTime next = std::chrono::steady_clock::now() + kIdle;
    for (const auto& drive : drives) {
      if (std::ranges::find(drives_, drive) == drives_.end()) continue;
      waking_ = drive;
      lock.unlock();
      if (const auto at = drive->wake()) next = std::min(next, *at);
      lock.lock();
      waking_ = nullptr;
      woken_.notify_all();
    }
    wake_.wait_until(lock, stop, next, [this] { return changed_; });
  }
}

Renewer::Renewer() : thread_(std::make_unique<Thread>()) {}
Renewer::~Renewer() = default;

namespace library {

Renewing::Renewing(Renewer& renewer, std::shared_ptr<Drive> drive) : renewer_(renewer), drive_(std::move(drive)) {
  renewer_.thread_->add(drive_);
}

void Renewing::stop() {
  if (drive_) renewer_.thread_->remove(std::exchange(drive_, nullptr));
}

}  // namespace library

}  // namespace stet
