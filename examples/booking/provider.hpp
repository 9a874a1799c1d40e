#pragma once
// The payment provider, which is somebody else's: slow, sometimes away, and its answers get lost.

#include <stdexcept>
#include <string>

namespace booking {

struct Charge {
  enum class Verdict : std::uint8_t { charged, declined };
  Verdict verdict;
  std::string id;  // the provider's
};

// Whether it was charged is not known. It is, or it will be, or not: the same key again tells.
class Unanswered : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// Threads: any.
class Provider {
 public:
  explicit Provider(std::string url) : url_(std::move(url)) {}

  // `key`: the same for every attempt of one payment. Throws Unanswered.
  Charge charge(const std::string& key, const std::string& payment, std::int64_t amount,
                const std::string& card) const;

 private:
  std::string url_;
};

}  // namespace booking
