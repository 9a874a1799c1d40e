// Needs PostgreSQL to do anything; that nobody answers is an error of the library's.
#include <stet/postgres/pool.hpp>
#include <stet/run_once.hpp>

#include <cstdio>

int main() {
  try {
    const stet::postgres::Pool pool("host=/nowhere connect_timeout=1");
  } catch (const stet::StoreError& error) {
    std::printf("no store: %d\n", static_cast<int>(error.kind()));
  }
}
