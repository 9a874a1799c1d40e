#include "stores/postgres/arrays.hpp"

#include <cstdlib>
#include <memory>

#include "stores/postgres/big_endian.hpp"

namespace stet::stores::postgres {
namespace {

// Dimensions, "has nulls", the element's type, then size and lower bound of the one dimension.
constexpr std::size_t kHead = 20;
constexpr char kJsonbVersion = 1;

std::string_view view(const std::array<std::uint8_t, 16>& uuid) {
  return {reinterpret_cast<const char*>(uuid.data()), uuid.size()};
}

template <class I>
std::string big_endian_bytes(I value) {
  std::string bytes;
  append_big_endian(bytes, value);
  return bytes;
}

}  // namespace

Array::Array(Type element) : element_(element), bytes_(kHead, '\0') {}

void Array::begin_element(std::size_t size) {
  ++size_;
  append_big_endian(bytes_, static_cast<std::int32_t>(size));
}

void Array::add_null() {
  ++size_;
  has_null_ = true;
  append_big_endian(bytes_, std::int32_t{-1});
}

void Array::add(std::int16_t value) {
  begin_element(sizeof value);
  append_big_endian(bytes_, value);
}

void Array::add(std::int32_t value) {
  begin_element(sizeof value);
  append_big_endian(bytes_, value);
}

void Array::add(std::int64_t value) {
  begin_element(sizeof value);
  append_big_endian(bytes_, value);
}

void Array::add(std::string_view bytes) {
  const bool versioned = element_ == Type::jsonb;
  begin_element(bytes.size() + (versioned ? 1 : 0));
  if (versioned) bytes_.push_back(kJsonbVersion);
  bytes_.append(bytes);
}

void Array::add(const std::array<std::uint8_t, 16>& uuid) {
  add(view(uuid));
}

std::uint32_t Array::type() const {
  switch (element_) {
    case Type::boolean:
      return 1000;
    case Type::bytea:
      return 1001;
    case Type::int8:
      return 1016;
    case Type::int2:
      return 1005;
    case Type::int4:
      return 1007;
    case Type::text:
      return 1009;
    case Type::uuid:
      return 2951;
    case Type::jsonb:
      return 3807;
  }
  std::abort();
}

const std::string& Array::bytes() {
  std::string head;
  append_big_endian(head, std::int32_t{size_ == 0 ? 0 : 1});
  append_big_endian(head, std::int32_t{has_null_ ? 1 : 0});
  append_big_endian(head, static_cast<std::int32_t>(element_));
  if (size_ == 0) {  // no dimension at all
    bytes_ = std::move(head);
    return bytes_;
  }
  append_big_endian(head, size_);
  append_big_endian(head, std::int32_t{1});
  bytes_.replace(0, kHead, head);
  return bytes_;
}

std::optional<std::string> Array::element() const {
  if (has_null_) return std::nullopt;
  return bytes_.substr(kHead + sizeof(std::int32_t));
}

void Parameters::push(std::uint32_t type, const std::string* bytes) {
  types_.push_back(type);
  bytes_.push_back(bytes);
  lengths_.push_back(bytes == nullptr ? 0 : static_cast<int>(bytes->size()));
  formats_.push_back(1);
}

void Parameters::own(Type type, std::string bytes) {
  owned_.push_back(std::make_unique<std::string>(std::move(bytes)));
  push(static_cast<std::uint32_t>(type), owned_.back().get());
}

void Parameters::add(Array& array) {
  push(array.type(), &array.bytes());
}

void Parameters::add_element(const Array& array) {
  if (auto element = array.element()) {
    owned_.push_back(std::make_unique<std::string>(*std::move(element)));
    push(array.element_type(), owned_.back().get());
  } else {
    push(array.element_type(), nullptr);
  }
}

void Parameters::add(bool value) {
  own(Type::boolean, std::string(1, value ? '\1' : '\0'));
}

void Parameters::add(std::int16_t value) {
  own(Type::int2, big_endian_bytes(value));
}

void Parameters::add(std::int32_t value) {
  own(Type::int4, big_endian_bytes(value));
}

void Parameters::add(std::int64_t value) {
  own(Type::int8, big_endian_bytes(value));
}

void Parameters::add_uuid(const std::array<std::uint8_t, 16>& uuid) {
  own(Type::uuid, std::string(view(uuid)));
}

void Parameters::add_bytes(std::string_view bytes) {
  own(Type::bytea, std::string(bytes));
}

void Parameters::add_text(std::string_view text) {
  own(Type::text, std::string(text));
}

void Parameters::add_null(Type type) {
  push(static_cast<std::uint32_t>(type), nullptr);
}

const char* const* Parameters::values() {
  values_.clear();
  for (const std::string* bytes : bytes_) values_.push_back(bytes == nullptr ? nullptr : bytes->data());
  return values_.data();
}

}  // namespace stet::stores::postgres
