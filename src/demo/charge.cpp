#include "demo/charge.hpp"

#include <algorithm>
#include <boost/json.hpp>
#include <charconv>

namespace stet::demo {
namespace json = boost::json;
namespace {

constexpr std::int64_t kLargestAmount = 99'999'999;
constexpr std::size_t kLongestDescription = 500;

unexpected<OrderRefusal> invalid(std::string detail) {
  return unexpected(OrderRefusal{422, std::move(detail)});
}

json::value text_or_null(const std::optional<std::string>& text) {
  return text ? json::value(json::string(*text)) : json::value(nullptr);
}

json::object object_of(const Charge& charge) {
  return {
      {"id", charge.id()},
      {"object", "charge"},
      {"amount", charge.order.amount},
      {"currency", charge.order.currency},
      {"description", charge.order.description},
      {"status", "succeeded"},
      {"created_at", charge.created_at},
      {"idempotency_key", text_or_null(charge.provenance.idempotency_key)},
      {"operation", text_or_null(charge.provenance.operation)},
      {"attempt", text_or_null(charge.provenance.attempt)},
      {"response_id", charge.response_id},
  };
}

}  // namespace

std::string Charge::id() const {
  return "ch_" + std::to_string(number);
}

std::optional<std::int64_t> read_charge_id(std::string_view text) {
  if (!text.starts_with("ch_")) return std::nullopt;
  text.remove_prefix(3);
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{} || end != text.data() + text.size() || number <= 0) return std::nullopt;
  return number;
}

Expected<ChargeOrder, OrderRefusal> read_order(std::string_view body) {
  boost::system::error_code error;
  const auto value = json::parse(json::string_view(body.data(), body.size()), error);
  if (error || !value.is_object()) return unexpected(OrderRefusal{400, "The body must be one JSON object."});
  const auto& members = value.get_object();

  ChargeOrder order;
  const auto* amount = members.if_contains("amount");
  if (amount == nullptr || !amount->is_int64()) return invalid("amount must be a whole number.");
  order.amount = amount->get_int64();
  if (order.amount <= 0 || order.amount > kLargestAmount)
    return invalid("amount must be between 1 and 99999999.");

  if (const auto* currency = members.if_contains("currency")) {
    if (!currency->is_string()) return invalid("currency must be three lower-case letters.");
    order.currency = currency->get_string().c_str();
    const auto lower = [](char c) { return c >= 'a' && c <= 'z'; };
    if (order.currency.size() != 3 || !std::all_of(order.currency.begin(), order.currency.end(), lower))
      return invalid("currency must be three lower-case letters.");
  }

  if (const auto* description = members.if_contains("description")) {
    if (!description->is_string()) return invalid("description must be a text.");
    const auto& text = description->get_string();
    if (text.size() > kLongestDescription) return invalid("description has at most 500 bytes.");
    order.description.assign(text.data(), text.size());
  }
  return order;
}

std::string charge_json(const Charge& charge, std::uint64_t padding) {
  auto object = object_of(charge);
  if (padding != 0) object["padding"] = json::string(static_cast<std::size_t>(padding), 'x');
  return json::serialize(object);
}

std::string list_json(const std::vector<Charge>& charges, std::uint64_t count) {
  json::array data;
  for (const auto& charge : charges) data.push_back(object_of(charge));
  return json::serialize(json::object{{"object", "list"}, {"count", count}, {"data", std::move(data)}});
}

std::string error_json(int status, std::string_view detail) {
  return json::serialize(json::object{
      {"error", {{"status", status}, {"detail", json::string_view(detail.data(), detail.size())}}}});
}

}  // namespace stet::demo
