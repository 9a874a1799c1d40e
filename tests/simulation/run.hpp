#pragma once
// One request at one gateway of the simulation.

#include "world.hpp"

namespace stet::simulation {

struct World::Run {
  std::string key;
  std::uint8_t request;
  std::size_t gateway;
  std::uint64_t life;
  Exchange exchange;
  std::function<void(const Shown*)> told;
  std::uint64_t wake = 0;
  bool listening = false;
  bool owns = false;
  std::optional<Token> token{};  // once it is forwarded
  bool answer_lost = false;
  std::vector<std::shared_ptr<Run>> waiters{};
};

}  // namespace stet::simulation
