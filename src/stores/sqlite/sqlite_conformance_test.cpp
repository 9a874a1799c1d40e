#include "stores/conformance/subject.hpp"
#include "stores/sealed/sealed_store.hpp"
#include "stores/sqlite/file_for_test.hpp"

namespace stet::stores::conformance {
namespace {

class Sqlite final : public Place {
 public:
  std::unique_ptr<Store> open(const Clocks& clocks) override {
    sqlite::Options options = sqlite::quick_options();
    options.clocks = clocks;
    return sqlite::open(file_.path(), std::move(options));
  }

 private:
  sqlite::TestFile file_;
};

class SealedSqlite final : public Place {
 public:
  std::unique_ptr<Store> open(const Clocks& clocks) override {
    return seal(inner_.open(clocks), {encryption_key("0123456789abcdef0123456789abcdef")});
  }

 private:
  Sqlite inner_;
};

INSTANTIATE_TEST_SUITE_P(
    Sqlite, StoreConformance,
    testing::Values(Subject{"plain", Restart::survives, [] { return std::make_unique<Sqlite>(); }},
                    Subject{"sealed", Restart::survives, [] { return std::make_unique<SealedSqlite>(); }}),
    subject_name);

}  // namespace
}  // namespace stet::stores::conformance
