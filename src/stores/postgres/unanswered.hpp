#pragma once
// Operations that were given up, with their connections: the server may still be at them.

#include <mutex>
#include <set>
#include <vector>

#include "stores/postgres/connection.hpp"

namespace stet::stores::postgres {

class Link;

// What the connections of one gateway wait for no longer. From any thread.
class Unanswered {
 public:
  void add(const Link& owner, Connection connection);
  // How many of `owner`'s the server may still be at.
  std::size_t count(const Link& owner);
  // Whether there is one, whosever it is.
  bool any();
  // The numbers of the backends of `owner`'s.
  std::vector<int> backends(const Link& owner);
  // The server was asked: of `owner`'s it is at these only.
  void keep(const Link& owner, const std::set<int>& backends);

 private:
  struct Operation {
    const Link* owner;
    Connection connection;
  };
  void drop_the_ended();  // under the lock

  std::mutex mutex_;
  std::vector<Operation> operations_;
};

}  // namespace stet::stores::postgres
