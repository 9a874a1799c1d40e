#pragma once
// A store whose answers are counted: what goes into the committer, so that nobody else has to count.
//
//   stores::Committer committer(std::make_unique<admin::CountedStore>(stores::open_store(…), metrics.store));

#include <memory>
#include <utility>

#include "admin/metrics.hpp"
#include "stet/store.hpp"

namespace stet::admin {

class CountedStore final : public Store {
 public:
  CountedStore(std::unique_ptr<Store> store, StoreMetrics& metrics)
      : store_(std::move(store)), metrics_(metrics) {}

  std::vector<Outcome> execute(std::span<const Command> batch) override;
  std::optional<Result> peek(const command::Claim&) noexcept override;
  std::optional<Record> find(const OperationId&) override;
  Page list(const Filter&, std::size_t limit, const std::string& cursor) override;

 private:
  template <class Call>
  auto counting_failures(Call);
  void look_for_lost_claims(std::span<const Command>, const std::vector<Outcome>&);

  const std::unique_ptr<Store> store_;
  StoreMetrics& metrics_;
};

}  // namespace stet::admin
