#include "admin/log.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <thread>

#include "admin/log_writer.hpp"

namespace stet::admin {
namespace {

using namespace std::chrono_literals;

struct Pipe {
  Pipe() { EXPECT_EQ(::pipe2(ends.data(), O_CLOEXEC), 0); }
  ~Pipe() {
    close_reader();
    ::close(ends[1]);
  }
  void close_reader() {
    if (ends[0] >= 0) ::close(ends[0]);
    ends[0] = -1;
  }
  std::string read_some() {
    std::string text(1 << 20, '\0');
    const ssize_t got = ::read(ends[0], text.data(), text.size());
    text.resize(got < 0 ? 0 : static_cast<std::size_t>(got));
    return text;
  }
  std::array<int, 2> ends{};
};

RequestLine some_request() {
  RequestLine line;
  line.method = "POST";
  line.path = "/charges";
  line.status = 200;
  return line;
}

TEST(Log, writes_its_lines_in_order) {
  Pipe pipe;
  Log log(config::LogFormat::text, config::LogKeys::hash, pipe.ends[1]);
  log.event(Level::info, "one", "first");
  log.event(Level::info, "two", "second");
  log.flush();
  const std::string text = pipe.read_some();
  EXPECT_LT(text.find("one: first\n"), text.find("two: second\n"));
  EXPECT_EQ(text.back(), '\n');
}

TEST(Log, says_once_what_would_come_with_every_request) {
  Pipe pipe;
  Log log(config::LogFormat::text, config::LogKeys::hash, pipe.ends[1]);
  for (int i = 0; i < 3; ++i) log.once(Level::warning, "no-credentials", "Everybody shares one scope.");
  log.flush();
  const std::string text = pipe.read_some();
  EXPECT_EQ(text.find("no-credentials"), text.rfind("no-credentials"));
  EXPECT_NE(text.find("no-credentials"), std::string::npos);
}

// A log that nobody reads neither blocks nor fails a request.
TEST(Log, never_waits_for_a_full_pipe) {
  // Never closed: the thread that is stuck in it may outlive the test.
  static Pipe& pipe = *new Pipe;
  std::uint64_t dropped = 0;
  const auto before = std::chrono::steady_clock::now();
  {
    Log log(config::LogFormat::json, config::LogKeys::hash, pipe.ends[1]);
    const RequestLine line = some_request();
    for (int i = 0; i < 60'000; ++i) log.request(line);
    dropped = log.dropped();
  }
  EXPECT_GT(dropped, 0U);
  // Whoever waits for the reader, a request or the end, waits for ever.
  EXPECT_LT(std::chrono::steady_clock::now() - before, 60s);
  pipe.close_reader();
}

TEST(Log, survives_a_reader_that_went_away) {
  Pipe pipe;
  Log log(config::LogFormat::json, config::LogKeys::hash, pipe.ends[1]);
  pipe.close_reader();
  log.request(some_request());
  log.flush();
  EXPECT_EQ(log.dropped(), 1U);
}

TEST(Log, survives_a_full_disk) {
  const int full = ::open("/dev/full", O_WRONLY | O_CLOEXEC);
  ASSERT_GE(full, 0);
  {
    Log log(config::LogFormat::json, config::LogKeys::hash, full);
    log.request(some_request());
    log.flush();
    EXPECT_EQ(log.dropped(), 1U);
  }
  ::close(full);
}

TEST(Log, tells_how_many_lines_were_lost_once_it_can_write_again) {
  Pipe pipe;
  const int disk = ::open("/dev/full", O_WRONLY | O_CLOEXEC);
  const int fd = ::dup(disk);
  Log log(config::LogFormat::json, config::LogKeys::hash, fd);
  log.request(some_request());
  log.flush();
  ASSERT_EQ(::dup2(pipe.ends[1], fd), fd);
  log.request(some_request());
  log.flush();
  const std::string text = pipe.read_some();
  EXPECT_NE(text.find(R"("event":"log-dropped")"), std::string::npos) << text;
  EXPECT_NE(text.find(R"("lines":1)"), std::string::npos);
  ::close(fd);
  ::close(disk);
}

TEST(Log, writes_nothing_when_off) {
  Pipe pipe;
  Log log(config::LogFormat::off, config::LogKeys::hash, pipe.ends[1]);
  log.request(some_request());
  log.event(Level::error, "x", "y");
  log.flush();
  ::fcntl(pipe.ends[0], F_SETFL, O_NONBLOCK);
  EXPECT_EQ(pipe.read_some(), "");
}

TEST(LogWriter, keeps_what_fits_and_counts_what_does_not) {
  Pipe pipe;
  LogWriter writer(pipe.ends[1], 10);
  writer.put("12345\n");
  writer.put("67890\n");
  writer.put("abc\n");
  EXPECT_EQ(writer.dropped(), 1U);
  std::thread thread([&] { writer.run(); });
  EXPECT_TRUE(writer.wait_until_written(30s));
  writer.stop();
  thread.join();
  EXPECT_EQ(pipe.read_some(), "12345\nabc\n");
}

TEST(LogWriter, takes_lines_from_many_threads_whole) {
  Pipe pipe;
  LogWriter writer(pipe.ends[1]);
  std::thread thread([&] { writer.run(); });
  std::vector<std::thread> callers;
  for (const char letter : {'a', 'b', 'c', 'd'}) {
    callers.emplace_back([&writer, letter] {
      for (int i = 0; i < 100; ++i) writer.put(std::string(20, letter) + "\n");
    });
  }
  for (std::thread& caller : callers) caller.join();
  EXPECT_TRUE(writer.wait_until_written(30s));
  writer.stop();
  thread.join();
  std::string text;
  while (text.size() < 4U * 100U * 21U) text += pipe.read_some();
  for (std::size_t i = 0; i < text.size(); i += 21) {
    EXPECT_EQ(text.substr(i, 21), std::string(20, text[i]) + "\n");
  }
}

}  // namespace
}  // namespace stet::admin
