#include "stores/sealed/sealed_store.hpp"

#include <algorithm>
#include <utility>

#include "stores/header_bytes.hpp"
#include "stores/sealed/cipher.hpp"

namespace stet::stores {
namespace {

// Stands in the place of the sealed headers; a colon cannot begin the name of a header that an upstream sent.
constexpr std::string_view kMark = ":sealed";

class SealedStore final : public Store {
 public:
  SealedStore(std::unique_ptr<Store> inner, const std::vector<EncryptionKey>& keys)
      : inner_(std::move(inner)) {
    for (const EncryptionKey& key : keys) ciphers_.push_back(std::make_unique<Cipher>(key));
  }

  std::vector<Outcome> execute(std::span<const Command> batch) override {
    if (ciphers_.empty()) return opened(batch, inner_->execute(batch));
    std::vector<Command> sealed(batch.begin(), batch.end());
    for (Command& command : sealed) seal_command(command);
    return opened(batch, inner_->execute(sealed));
  }

  std::optional<Result> peek(const command::Claim& claim) noexcept override {
    std::optional<Result> result = inner_->peek(claim);
    if (!result) return std::nullopt;
    try {
      if (auto* replay = std::get_if<result::Replay>(&*result)) open(replay->answer, claim.scope, claim.key);
      return result;
    } catch (...) {  // execute says what is wrong
      return std::nullopt;
    }
  }

  std::optional<Record> find(const OperationId& id) override {
    std::optional<Record> record = inner_->find(id);
    if (record && record->answer) open(*record->answer, record->token.scope, record->token.key);
    return record;
  }

  // A sealed answer's headers are part of what is sealed, and lists do not carry that.
  Page list(const Filter& filter, std::size_t limit, const std::string& cursor) override {
    Page page = inner_->list(filter, limit, cursor);
    for (Record& record : page.records) {
      if (record.answer && is_sealed(*record.answer)) record.answer->headers.clear();
    }
    return page;
  }

 private:
  static bool is_sealed(const Answer& answer) {
    return answer.headers.size() == 1 && answer.headers.front().name == kMark;
  }

  static std::string identity(std::string_view scope, std::string_view key, int status) {
    std::string bytes;
    append_part(bytes, scope);
    append_part(bytes, key);
    append_part(bytes, std::to_string(status));
    return bytes;
  }

  void seal_command(Command& command) const {
    if (auto* complete = std::get_if<command::Complete>(&command)) {
      seal(complete->answer, complete->token.scope, complete->token.key);
    } else if (auto* settle = std::get_if<command::Settle>(&command)) {
      if (settle->answer) seal(*settle->answer, settle->seen.scope, settle->seen.key);
    }
  }

  void seal(Answer& answer, std::string_view scope, std::string_view key) const {
    std::string plain(1, answer.kept == Kept::whole ? 'w' : 'h');
    append_part(plain, pack(answer.headers));
    plain += answer.body;
    const Cipher& cipher = *ciphers_.front();
    answer.body = cipher.seal(plain, identity(scope, key, answer.status));
    answer.headers = {{std::string(kMark), cipher.key_id()}};
    answer.kept = Kept::whole;
  }

  void open(Answer& answer, std::string_view scope, std::string_view key) const {
    if (!is_sealed(answer)) return;  // recorded before there was a key
    const std::string& key_id = answer.headers.front().value;
    const auto cipher = std::ranges::find_if(ciphers_, [&](const auto& c) { return c->key_id() == key_id; });
    if (cipher == ciphers_.end()) {
      throw StoreError(StoreFailure::corrupt,
                       "the answer is sealed with the key " + key_id + ", which is not configured");
    }
    std::optional<std::string> plain = (*cipher)->open(answer.body, identity(scope, key, answer.status));
    if (!plain) throw StoreError(StoreFailure::corrupt, "the sealed answer does not open");
    std::string_view rest = *plain;
    const bool whole = rest.starts_with('w');
    if (!rest.empty()) rest.remove_prefix(1);
    const auto packed = take_part(rest);
    std::optional<Headers> headers = packed ? unpack_headers(*packed) : std::nullopt;
    if (!headers) throw StoreError(StoreFailure::corrupt, "the sealed answer cannot be read");
    answer.kept = whole ? Kept::whole : Kept::head_only;
    answer.headers = *std::move(headers);
    answer.body = std::string(rest);
  }

  std::vector<Outcome> opened(std::span<const Command> batch, std::vector<Outcome> outcomes) const {
    for (std::size_t i = 0; i < outcomes.size() && i < batch.size(); ++i) {
      auto* const result = std::get_if<Result>(&outcomes[i]);
      auto* const replay = result != nullptr ? std::get_if<result::Replay>(result) : nullptr;
      const auto* const claim = std::get_if<command::Claim>(&batch[i]);
      if (replay == nullptr || claim == nullptr) continue;
      try {
        open(replay->answer, claim->scope, claim->key);
      } catch (const StoreError& error) {
        outcomes[i] = Failed{error.kind(), error.what()};
      }
    }
    return outcomes;
  }

  const std::unique_ptr<Store> inner_;
  std::vector<std::unique_ptr<Cipher>> ciphers_;
};

}  // namespace

std::unique_ptr<Store> seal(std::unique_ptr<Store> inner, std::vector<EncryptionKey> keys) {
  return std::make_unique<SealedStore>(std::move(inner), keys);
}

EncryptionKey encryption_key(std::string_view bytes) {
  EncryptionKey key;
  if (bytes.size() != key.size()) {
    throw StoreError(StoreFailure::incompatible,
                     "an encryption key has 32 bytes, this one " + std::to_string(bytes.size()));
  }
  std::copy(bytes.begin(), bytes.end(), key.begin());
  return key;
}

}  // namespace stet::stores
