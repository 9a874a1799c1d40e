#include "gateway/ask_verdict.hpp"

#include <charconv>

#include "gateway/answer_headers.hpp"

namespace stet::gateway {
namespace {

template <class T>
std::optional<T> whole_number(std::optional<std::string_view> text) {
  if (!text || text->empty()) return std::nullopt;
  T value{};
  const auto [end, error] = std::from_chars(text->data(), text->data() + text->size(), value);
  if (error != std::errc{} || end != text->data() + text->size()) return std::nullopt;
  return value;
}

}  // namespace

AskVerdict ask_verdict(const Subanswer& answer, const config::Route& route) {
  // The original answer and the promise at once contradict each other, and prove nothing.
  const auto never = answer.fields.first("Stet-Not-Executed");
  const auto original = answer.fields.first("Stet-Answer");
  if (never && original) return asked::Nothing{};
  if (original) {
    const auto status = whole_number<int>(answer.fields.first("Stet-Status"));
    if (answer.status != 200 || original != "1" || !status || *status < 200 || *status > 599)
      return asked::Nothing{};
    return asked::Completed{
        {*status, stored_headers(own_caller_headers(answer.fields), route), answer.body, Kept::whole}};
  }
  if (answer.fields.count("Stet-Not-Executed") != 1) return asked::Nothing{};
  if (const auto attempt = whole_number<std::uint32_t>(never)) return asked::NeverExecuted{*attempt};
  return asked::Nothing{};
}

}  // namespace stet::gateway
