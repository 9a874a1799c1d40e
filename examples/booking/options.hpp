#pragma once
#include <chrono>
#include <string>

namespace booking {

struct Options {
  std::string listen = "127.0.0.1:8090";
  std::string store = "sqlite:booking.db";  // or postgresql://…
  std::string provider = "http://127.0.0.1:8091";
  std::string webhook_secret = "whsec_example";
  std::chrono::milliseconds lease = std::chrono::seconds(5);
};

}  // namespace booking
