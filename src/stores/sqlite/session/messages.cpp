#include "stores/sqlite/fields.hpp"
#include "stores/sqlite/session/tables.hpp"

namespace stet::stores::sqlite {

Outbox::Outbox(Database& db)
    : insert_(db,
              "INSERT INTO stet_outbox (id, topic, payload, order_key, headers, created_ms, next_ms) "
              "VALUES (?1, CAST(?2 AS TEXT), ?3, CAST(?4 AS TEXT), '[]', ?5, ?5)"),
      append_header_(db,
                     "UPDATE stet_outbox SET headers = json_insert(headers, '$[#]', "
                     "json_array(CAST(?2 AS TEXT), CAST(?3 AS TEXT))) WHERE id = ?1") {}

void Outbox::insert(const Nonce& id, const Message& message, WallTime now) {
  insert_.bind(1, view(id.bytes)).bind(2, message.topic).bind(3, message.payload);
  if (message.order_key) {
    insert_.bind(4, *message.order_key);
  } else {
    insert_.bind_null(4);
  }
  insert_.bind(5, std::int64_t{now.time_since_epoch().count()}).run();
  for (const Header& header : message.headers) {
    append_header_.bind(1, view(id.bytes)).bind(2, header.name).bind(3, header.value).run();
  }
}

Inbox::Inbox(Database& db)
    : db_(db),
      insert_(db,
              "INSERT INTO stet_inbox (source, event_id, received_ms) VALUES (?1, ?2, ?3) "
              "ON CONFLICT (source, event_id) DO NOTHING") {}

Receipt Inbox::insert(std::string_view source, std::string_view event_id, WallTime now) {
  insert_.bind(1, source).bind(2, event_id).bind(3, std::int64_t{now.time_since_epoch().count()}).run();
  return sqlite3_changes(db_.handle()) == 1 ? Receipt::first : Receipt::repeat;
}

}  // namespace stet::stores::sqlite
