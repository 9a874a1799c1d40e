#include "admin/log.hpp"

#include <thread>

#include "admin/log_line.hpp"
#include "admin/log_writer.hpp"

namespace stet::admin {
namespace {

// How often lost lines are mentioned while they go on being lost.
constexpr std::chrono::seconds kTellDropped{10};

WallTime wall_time() {
  return std::chrono::floor<milliseconds>(std::chrono::system_clock::now());
}

}  // namespace

Log::Log(config::LogFormat format, config::LogKeys keys, int fd)
    : format_(format), keys_(keys), writer_(std::make_shared<LogWriter>(fd)) {
  if (format_ == config::LogFormat::off) return;
  std::thread([writer = writer_] { writer->run(); }).detach();
}

Log::~Log() {
  if (format_ == config::LogFormat::off) return;
  writer_->wait_until_written(std::chrono::milliseconds(500));
  writer_->stop();
}

void Log::request(const RequestLine& line) {
  if (format_ == config::LogFormat::off) return;
  const WallTime now = wall_time();
  const config::LogKeys keys = keys_.load(std::memory_order_relaxed);
  put(format_ == config::LogFormat::json ? json_line(line, keys, now) : text_line(line, keys, now));
}

void Log::event(Level level, std::string_view name, std::string_view message,
                std::initializer_list<Field> fields) {
  if (format_ == config::LogFormat::off) return;
  put(event_line(level, name, message, fields));
}

void Log::once(Level level, std::string_view name, std::string_view message,
               std::initializer_list<Field> fields) {
  {
    const std::scoped_lock lock(mutex_);
    if (said_.contains(name)) return;
    said_.emplace(name);
  }
  event(level, name, message, fields);
}

std::string Log::event_line(Level level, std::string_view name, std::string_view message,
                            std::initializer_list<Field> fields) const {
  const WallTime now = wall_time();
  return format_ == config::LogFormat::json ? json_event(level, name, message, fields, now)
                                            : text_event(level, name, message, fields, now);
}

void Log::put(std::string line) {
  line += '\n';
  writer_->put(line);
  if (writer_->dropped() != told_dropped_.load(std::memory_order_relaxed)) tell_dropped();
}

void Log::tell_dropped() {
  const std::uint64_t dropped = writer_->dropped();
  std::uint64_t before = 0;
  {
    const std::scoped_lock lock(mutex_);
    const auto now = std::chrono::steady_clock::now();
    if (told_at_ != std::chrono::steady_clock::time_point{} && now - told_at_ < kTellDropped) return;
    told_at_ = now;
    before = told_dropped_.exchange(dropped, std::memory_order_relaxed);
  }
  writer_->put(event_line(Level::warning, "log-dropped", "Log lines could not be written and were dropped.",
                          {{"lines", static_cast<std::int64_t>(dropped - before)}}) +
               "\n");
}

void Log::flush(std::chrono::milliseconds patience) {
  if (format_ != config::LogFormat::off) writer_->wait_until_written(patience);
}

std::uint64_t Log::dropped() const {
  return writer_->dropped();
}

void Log::set_keys(config::LogKeys keys) {
  keys_.store(keys, std::memory_order_relaxed);
}

}  // namespace stet::admin
