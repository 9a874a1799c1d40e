#include "stores/open.hpp"

#include <array>

#include "stores/postgres/postgres_store.hpp"
#include "stores/sealed/sealed_store.hpp"
#include "stores/sqlite/sqlite_store.hpp"

namespace stet::stores {
namespace {

constexpr std::string_view kSqlite = "sqlite:";

std::unique_ptr<Store> open_sqlite(const std::string& path, const OpenOptions& options) {
  sqlite::Options its;
  its.sync = options.durability == Durability::full ? sqlite::Options::Sync::full : sqlite::Options::Sync::os;
  its.free_space_floor = options.free_space_floor;
  its.ballast = options.ballast;
  its.notice = options.notice;
  its.die = options.die;
  if (options.durability == Durability::os && options.notice) {
    options.notice(
        "durability = \"os\": what was acknowledged survives a crash of the process, and not a power cut");
  }
  return sqlite::open(path, std::move(its));
}

std::vector<std::unique_ptr<Store>> open_postgres(const std::string& url, const OpenOptions& options) {
  postgres::Options its;
  its.durability = options.durability;
  its.connections = options.pool;
  its.missing = options.missing;
  its.notice = options.notice;
  its.alarm = options.alarm;
  return postgres::open(url, its);
}

[[noreturn]] void refuse(const std::string& url) {
  static constexpr std::array<std::string_view, 3> kPlanned{"redis:", "rediss:", "redis-cluster:"};
  const std::string scheme = url.substr(0, url.find(':') + 1);
  for (const std::string_view planned : kPlanned) {
    if (scheme == planned) {
      throw StoreError(
          StoreFailure::incompatible,
          scheme + " stores are not built yet; this binary knows sqlite:PATH and postgresql://host/database");
    }
  }
  // The URL may hold a password, so it is not repeated.
  throw StoreError(StoreFailure::incompatible, "the store's URL is none that Stet knows; try sqlite:stet.db");
}

}  // namespace

std::optional<std::string> sqlite_path(std::string_view url) {
  if (!url.starts_with(kSqlite)) return std::nullopt;
  return std::string(url.substr(kSqlite.size()));
}

std::vector<std::unique_ptr<Store>> open_stores(const std::string& url, const OpenOptions& options) {
  std::vector<EncryptionKey> keys;
  if (options.encryption_key) keys.push_back(encryption_key(*options.encryption_key));
  std::vector<std::unique_ptr<Store>> stores;
  if (const auto path = sqlite_path(url)) {
    stores.push_back(open_sqlite(*path, options));
  } else if (postgres::is_postgres(url)) {
    stores = open_postgres(url, options);
  } else {
    refuse(url);
  }
  for (auto& store : stores) store = seal(std::move(store), keys);
  return stores;
}

std::unique_ptr<Store> open_store(const std::string& url, const OpenOptions& options) {
  OpenOptions one = options;
  one.pool = 1;
  return std::move(open_stores(url, one).front());
}

}  // namespace stet::stores
