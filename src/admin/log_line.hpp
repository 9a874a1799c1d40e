#pragma once
// One line of the log as text, without its newline. Pure.

#include <string>

#include "admin/log.hpp"

namespace stet::admin {

std::string json_line(const RequestLine&, config::LogKeys, WallTime);
std::string text_line(const RequestLine&, config::LogKeys, WallTime);
std::string json_event(Level, std::string_view name, std::string_view message, std::initializer_list<Field>,
                       WallTime);
std::string text_event(Level, std::string_view name, std::string_view message, std::initializer_list<Field>,
                       WallTime);

// The first 64 bits of the key's SHA-256 in hex: enough to find its lines again, too little to be it.
std::string key_hash(std::string_view key);

}  // namespace stet::admin
