#pragma once
// Parameters of a statement in PostgreSQL's binary form: whole columns of a batch as one array each, so that
// a statement has the same text, and so the same plan, for any number of commands.

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "stet/identity.hpp"

namespace stet::stores::postgres {

// The numbers PostgreSQL gives its built-in types; they never change.
enum class Type : std::uint32_t {
  boolean = 16,
  bytea = 17,
  int8 = 20,
  int2 = 21,
  int4 = 23,
  text = 25,
  uuid = 2950,
  jsonb = 3802,
};

// One array in the making. Elements must be added by the call that fits the type.
class Array {
 public:
  explicit Array(Type element);

  void add_null();
  void add(std::int16_t);
  void add(std::int32_t);
  void add(std::int64_t);
  void add(std::string_view);  // bytea, text; also jsonb, whose version byte is put before it
  void add(const std::array<std::uint8_t, 16>& uuid);

  std::uint32_t type() const;  // of the array
  const std::string& bytes();  // complete; nothing may be added afterwards

  // Of an array of one: the element by itself; none: null.
  std::uint32_t element_type() const { return static_cast<std::uint32_t>(element_); }
  std::optional<std::string> element() const;

 private:
  void begin_element(std::size_t size);

  Type element_;
  std::int32_t size_ = 0;
  bool has_null_ = false;
  std::string bytes_;
};

// The parameters of one statement, in their order. What is given to it must live until the statement has been
// sent.
class Parameters {
 public:
  void add(Array& array);
  void add_element(const Array& array_of_one);
  void add(bool);
  void add(std::int16_t);
  void add(std::int32_t);
  void add(std::int64_t);
  void add_uuid(const std::array<std::uint8_t, 16>&);
  void add_bytes(std::string_view);  // bytea
  void add_text(std::string_view);
  void add_null(Type);

  int count() const { return static_cast<int>(types_.size()); }
  const std::uint32_t* types() const { return types_.data(); }
  const char* const* values();
  const int* lengths() const { return lengths_.data(); }
  const int* formats() const { return formats_.data(); }

 private:
  void own(Type type, std::string bytes);
  void push(std::uint32_t type, const std::string* bytes);

  std::vector<std::uint32_t> types_;
  std::vector<const std::string*> bytes_;  // null: SQL's NULL
  std::vector<const char*> values_;
  std::vector<int> lengths_;
  std::vector<int> formats_;
  std::vector<std::unique_ptr<std::string>> owned_;
};

}  // namespace stet::stores::postgres
