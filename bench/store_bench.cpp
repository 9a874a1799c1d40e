// What a store does on this machine, without the gateway.
//
//   store_bench [--keys N] [--seconds S] [--batch N] [--dir DIR] [--sweep] [--start] [--fill FILE]
//   store_bench --store postgresql://… [--keys N] [--seconds S] [--batch N | --callers N --pool N]
//
// --store measures PostgreSQL instead of a new file: N operations a batch on one connection, or so many
// callers, each with one operation at a time, before a committer with so many connections, as in the gateway.
// Puts N completed operations into a new file, then claims and completes new random keys for S seconds, so
// many a batch, with a durable commit each. --sweep measures the steady state instead: N answers and N
// tombstones are due, and each pair of batches is followed by a sweep of twice as many rows, so that the file
// neither grows nor shrinks.
// --fill only puts them into FILE and leaves it there.
// --start opens the file again, from a cold page cache, and says how long that took and what it left in
// memory.

#include <fcntl.h>
#include <malloc.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "callers.hpp"
#include "stores/open.hpp"
#include "stores/sqlite/sqlite_store.hpp"

namespace {

using namespace stet;
using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

struct Flags {
  std::size_t keys = 0;
  std::size_t batch = 64;
  std::chrono::seconds time{5};
  std::filesystem::path directory = std::filesystem::temp_directory_path();
  std::string fill;
  std::string store;
  std::size_t callers = 0;
  std::size_t pool = 1;
  bool sweep = false;
  bool start = false;
};

std::size_t number(const char* text) {
  std::size_t value = 0;
  const auto [end, error] = std::from_chars(text, text + std::strlen(text), value);
  if (error != std::errc() || *end != '\0') {
    std::fprintf(stderr, "store_bench: %s is not a number\n", text);
    std::exit(2);
  }
  return value;
}

Flags parse(int argc, char** argv) {
  Flags flags;
  for (int i = 1; i < argc; ++i) {
    const std::string flag = argv[i];
    const bool has_value = i + 1 < argc;
    if (flag == "--sweep") {
      flags.sweep = true;
    } else if (flag == "--start") {
      flags.start = true;
    } else if (flag == "--keys" && has_value) {
      flags.keys = number(argv[++i]);
    } else if (flag == "--batch" && has_value) {
      flags.batch = number(argv[++i]);
    } else if (flag == "--seconds" && has_value) {
      flags.time = std::chrono::seconds(number(argv[++i]));
    } else if (flag == "--store" && has_value) {
      flags.store = argv[++i];
    } else if (flag == "--callers" && has_value) {
      flags.callers = number(argv[++i]);
    } else if (flag == "--pool" && has_value) {
      flags.pool = number(argv[++i]);
    } else if (flag == "--fill" && has_value) {
      flags.fill = argv[++i];
    } else if (flag == "--dir" && has_value) {
      flags.directory = argv[++i];
    } else {
      std::fprintf(stderr,
                   "usage: store_bench [--keys N] [--seconds S] [--batch N] [--dir DIR] [--sweep] [--start] "
                   "[--fill FILE] [--store URL [--callers N] [--pool N]]\n");
      std::exit(2);
    }
  }
  return flags;
}

std::size_t resident_bytes() {
  std::ifstream statm("/proc/self/statm");
  std::size_t total = 0;
  std::size_t resident = 0;
  statm >> total >> resident;
  return resident * 4096;
}

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

// A wall clock that can be moved on, so that a sweep finds something due.
struct Wall {
  milliseconds ahead{};
  WallTime operator()() const {
    return std::chrono::time_point_cast<milliseconds>(std::chrono::system_clock::now()) + ahead;
  }
};

class Load {
 public:
  Load(Store& store, std::size_t batch) : store_(store), batch_(batch) {}

  void claim_and_complete() {
    std::vector<Command> claims;
    std::vector<Command> completions;
    for (std::size_t i = 0; i < batch_; ++i) {
      const bench::Operation operation = bench::new_operation();
      claims.emplace_back(operation.claim);
      completions.emplace_back(operation.complete);
    }
    check(store_.execute(claims));
    check(store_.execute(completions));
    done_ += batch_;
  }
  void sweep(std::size_t limit) {
    const std::vector<Command> sweep{command::Sweep{limit, command::Sweep::Clock::trusted}};
    const auto outcomes = store_.execute(sweep);
    const auto& swept = std::get<result::Swept>(std::get<Result>(outcomes.front()));
    swept_ += swept.expired + swept.removed;
  }
  std::size_t done() const { return done_; }
  std::size_t swept() const { return swept_; }

 private:
  static void check(const std::vector<Store::Outcome>& outcomes) {
    for (const auto& outcome : outcomes) {
      if (std::holds_alternative<Store::Failed>(outcome)) {
        std::fprintf(stderr, "store_bench: %s\n", std::get<Store::Failed>(outcome).what.c_str());
        std::exit(1);
      }
    }
  }

  Store& store_;
  std::size_t batch_;
  std::size_t done_ = 0;
  std::size_t swept_ = 0;
};

stores::sqlite::Options options_with(const std::shared_ptr<Wall>& wall) {
  stores::sqlite::Options options;
  options.clocks.wall = [wall] { return (*wall)(); };
  return options;
}

void fill(Store& store, std::size_t keys) {
  Load load(store, 1000);
  while (load.done() < keys) load.claim_and_complete();
}

// Outside the measurement, without a sync a commit.
void prepare(const std::string& path, const Flags& flags, const std::shared_ptr<Wall>& wall) {
  if (flags.keys == 0) return;
  stores::sqlite::Options options = options_with(wall);
  options.sync = stores::sqlite::Options::Sync::os;
  const auto store = stores::sqlite::open(path, options);
  const auto start = Clock::now();
  fill(*store, flags.keys);
  if (flags.sweep) {
    wall->ahead = 25h;
    Load sweeping(*store, 1);
    while (sweeping.swept() < flags.keys) sweeping.sweep(1000);
    fill(*store, flags.keys);
    wall->ahead = 50h;
  }
  std::printf("prepared    %zu keys in %.1f s\n", flags.keys, seconds_since(start));
}

void forget_pages(const std::string& path) {
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) return;
  ::fsync(file);
  ::posix_fadvise(file, 0, 0, POSIX_FADV_DONTNEED);
  ::close(file);
}

std::unique_ptr<Store> start(const std::string& path, const Flags& flags, const std::shared_ptr<Wall>& wall) {
  if (!flags.start) return stores::sqlite::open(path, options_with(wall));
  forget_pages(path);
  ::malloc_trim(0);
  const std::size_t before = resident_bytes();
  const auto opening = Clock::now();
  auto store = stores::sqlite::open(path, options_with(wall));
  const double took = seconds_since(opening);
  std::printf("start       %.2f s cold, %.0f MB in memory, file %.0f MB\n", took,
              static_cast<double>(resident_bytes() - before) / 1e6,
              static_cast<double>(std::filesystem::file_size(path)) / 1e6);
  return store;
}

double cpu_seconds() {
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  const auto seconds = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_usec) / 1e6;
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

void measure(Store& store, const Flags& flags) {
  Load load(store, flags.batch);
  std::vector<double> pair_ms;
  const double cpu_before = cpu_seconds();
  const auto begin = Clock::now();
  while (seconds_since(begin) < static_cast<double>(flags.time.count())) {
    const auto one = Clock::now();
    load.claim_and_complete();
    if (flags.sweep) load.sweep(2 * flags.batch);
    pair_ms.push_back(seconds_since(one) * 1e3);
  }
  const double took = seconds_since(begin);
  const double cpu = cpu_seconds() - cpu_before;
  std::sort(pair_ms.begin(), pair_ms.end());
  const auto done = static_cast<double>(load.done());
  std::printf(
      "operations  %.0f a second (claim and completion), %.1f us of CPU each, %zu a batch, %zu keys before\n",
      done / took, cpu / done * 1e6, flags.batch, flags.keys);
  std::printf("a batch of claims and one of completions: %.2f ms median, %.2f ms at 99 %%, %.2f ms at most\n",
              pair_ms[pair_ms.size() / 2], pair_ms[pair_ms.size() * 99 / 100], pair_ms.back());
  if (flags.sweep)
    std::printf("swept       %.0f rows a second beside them\n", static_cast<double>(load.swept()) / took);
}

void run(const std::string& path, const Flags& flags) {
  const auto wall = std::make_shared<Wall>();
  prepare(path, flags, wall);
  const auto store = start(path, flags, wall);
  if (flags.time.count() > 0) measure(*store, flags);
}

// The server's durability is its own; the second line says how it stands.
void run_on_server(const Flags& flags) {
  stores::OpenOptions options;
  options.pool = flags.pool;
  options.durability = stores::Durability::os;
  options.notice = [](std::string_view line) {
    std::printf("notice      %.*s\n", static_cast<int>(line.size()), line.data());
  };
  auto opened = stores::open_stores(flags.store, options);
  if (flags.keys > 0) {
    const auto start = Clock::now();
    fill(*opened.front(), flags.keys);
    std::printf("prepared    %zu keys in %.1f s\n", flags.keys, seconds_since(start));
  }
  if (flags.callers == 0) return measure(*opened.front(), flags);
  const double cpu_before = cpu_seconds();
  const bench::Measured measured = bench::run_callers(std::move(opened), flags.callers, flags.time);
  std::printf(
      "operations  %.0f a second (claim and completion), %.1f us of CPU each, %zu callers, %zu connections, "
      "%.1f commands "
      "a batch\n",
      measured.operations_a_second,
      (cpu_seconds() - cpu_before) / static_cast<double>(measured.operations) * 1e6, flags.callers,
      flags.pool, measured.commands_a_batch);
}

}  // namespace

int main(int argc, char** argv) {
  const Flags flags = parse(argc, argv);
  if (!flags.store.empty()) {
    try {
      run_on_server(flags);
      return 0;
    } catch (const StoreError& error) {
      std::fprintf(stderr, "store_bench: %s\n", error.what());
      return 3;
    }
  }
  if (!flags.fill.empty()) {
    prepare(flags.fill, flags, std::make_shared<Wall>());
    return 0;
  }
  std::string directory = (flags.directory / "store-bench-XXXXXX").string();
  if (::mkdtemp(directory.data()) == nullptr) {
    std::perror("store_bench: no temporary directory");
    return 3;
  }
  int status = 0;
  try {
    run(directory + "/stet.db", flags);
  } catch (const StoreError& error) {
    std::fprintf(stderr, "store_bench: %s\n", error.what());
    status = 3;
  }
  std::filesystem::remove_all(directory);
  return status;
}
