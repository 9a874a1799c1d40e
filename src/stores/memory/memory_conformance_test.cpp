#include "stores/conformance/subject.hpp"
#include "stores/memory/memory_store.hpp"
#include "stores/sealed/sealed_store.hpp"

namespace stet::stores::conformance {
namespace {

class Memory final : public Place {
 public:
  std::unique_ptr<Store> open(const Clocks& clocks) override { return make_memory_store(clocks); }
};

class SealedMemory final : public Place {
 public:
  std::unique_ptr<Store> open(const Clocks& clocks) override {
    return seal(make_memory_store(clocks), {encryption_key("0123456789abcdef0123456789abcdef")});
  }
};

INSTANTIATE_TEST_SUITE_P(
    Memory, StoreConformance,
    testing::Values(Subject{"plain", Restart::forgets, [] { return std::make_unique<Memory>(); }},
                    Subject{"sealed", Restart::forgets, [] { return std::make_unique<SealedMemory>(); }}),
    subject_name);

}  // namespace
}  // namespace stet::stores::conformance
