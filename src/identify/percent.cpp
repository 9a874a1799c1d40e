#include "identify/percent.hpp"

namespace stet::identify {

void append_percent_encoded(std::string& out, std::string_view text, std::string_view also) {
  static constexpr char digits[] = "0123456789ABCDEF";
  for (const char c : text) {
    if (c > 0x20 && c <= 0x7e && c != '%' && also.find(c) == std::string_view::npos) {
      out.push_back(c);
      continue;
    }
    const auto byte = static_cast<unsigned char>(c);
    out.push_back('%');
    out.push_back(digits[byte >> 4]);
    out.push_back(digits[byte & 15]);
  }
}

}  // namespace stet::identify
