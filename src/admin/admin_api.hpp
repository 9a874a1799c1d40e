#pragma once
// What the admin port answers: health, metrics, and the operators' work on records. No sockets: one request
// in, one answer out, some time later.

#include <functional>
#include <memory>

#include "admin/admin_request.hpp"
#include "admin/admin_server.hpp"
#include "admin/operations_json.hpp"

namespace stet::admin {

class AdminApi {
 public:
  // Both on the admin thread, like every call of this class. `Post` may be called from any thread and
  // outlives the api: it brings what the store thread has found back to the admin thread, where the JSON is
  // made.
  using Done = std::function<void(Answer)>;
  using Post = std::function<void(std::function<void()>)>;

  AdminApi(std::shared_ptr<const config::Config> config, AdminParts parts, Post post)
      : config_(std::move(config)), parts_(parts), post_(std::move(post)) {}

  void use(std::shared_ptr<const config::Config> config) { config_ = std::move(config); }

  // `done` is called once, perhaps before this returns, and not at all when the store never answers.
  void answer(const AdminRequest&, Done);
  // How long to wait for `done`, and what to say after that.
  static milliseconds patience(const AdminRequest&);
  Answer late(const AdminRequest&);
  // Of one request's body: a settled answer may be as large as the largest that a route keeps, in base64.
  std::uint64_t body_limit() const;

 private:
  void ready(Done);
  void metrics(Done);
  Answer metrics_text();
  void list(const http::RequestHead&, Done);
  void show(const OperationId&, Done);
  void settle(const OperationId&, const std::string& body, Done);
  void settle_found(const Record&, const SettleRequest&, Done);
  void sweep(const std::string& body, Done);
  void sweep_slice(command::Sweep, result::Swept so_far, std::size_t slices_left, Done);

  // Store calls whose results arrive on the admin thread; `failed` becomes a problem by itself.
  void find(const OperationId&, Done, std::function<void(std::optional<Record>)>);
  void submit(Command, Done, std::function<void(Result)>);

  std::shared_ptr<const config::Config> config_;
  AdminParts parts_;
  Post post_;
};

}  // namespace stet::admin
