#include "shape_test.hpp"

#include <unistd.h>

#include <cstdlib>
#include <filesystem>

namespace shapes {
namespace {

std::string server() {
  const char* url = std::getenv("STET_TEST_POSTGRES");
  if (url == nullptr)
    throw std::runtime_error("STET_TEST_POSTGRES names no PostgreSQL server: run this by ctest");
  return url;
}

}  // namespace

void ShapeTest::SetUp() {
  static std::atomic<int> count{0};
  name_ = "shape_" + std::to_string(getpid()) + "_" + std::to_string(++count);
  if (GetParam() == sql::Engine::sqlite) {
    name_ = (std::filesystem::temp_directory_path() / name_).string();
    url_ = "sqlite:" + name_;
  } else {
    sql::open(server())->script("CREATE DATABASE " + name_);
    url_ = server() + " dbname=" + name_;
  }
  db_ = connect();
}

void ShapeTest::TearDown() {
  db_.reset();
  if (GetParam() == sql::Engine::sqlite) {
    std::filesystem::remove(name_);
  } else {
    sql::open(server())->script("DROP DATABASE " + name_ + " WITH (FORCE)");
  }
}

void ShapeTest::schema(const char* statements) {
  db().script(statements);
}

}  // namespace shapes
