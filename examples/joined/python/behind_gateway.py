"""A charges service behind the gateway, on a route with upstream_joins = true: the charge and the answer that every retry
gets commit together, or neither does.
    PORT=3000 DATABASE_URL=postgresql://… python3 behind_gateway.py
"""

import contextlib
import http.server
import json
import os

import psycopg2
import psycopg2.extras

JSON_TYPE = [["Content-Type", "application/json"]]


@contextlib.contextmanager
def transaction():
    """Committed at the end of the block, rolled back by an exception."""
    db = psycopg2.connect(os.environ["DATABASE_URL"], cursor_factory=psycopg2.extras.RealDictCursor)
    try:
        with db, db.cursor() as sql:
            yield sql
    finally:
        db.close()


def charge(token, amount, note):
    with transaction() as sql:
        sql.execute("INSERT INTO charges (amount, note) VALUES (%s, %s) RETURNING *", (amount, note))
        body = json.dumps(sql.fetchone()).encode()
        # Fails with SQLSTATE STET1 when the key has gone to another attempt: then this charge is undone, too.
        sql.execute("SELECT stet.complete(%s, 201, %s, %s)", (token, json.dumps(JSON_TYPE), body))
    return body


class Charges(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        if self.path != "/charges":
            return self.answer(404, b'{"error": "not found"}')
        with transaction() as sql:
            sql.execute("SELECT * FROM charges ORDER BY id")
            self.answer(200, json.dumps({"data": sql.fetchall()}).encode())

    def do_POST(self):
        length = int(self.headers["Content-Length"])
        body = self.rfile.read(length)
        if len(body) < length:
            return  # cut off on the way
        if self.path != "/charges":
            return self.answer(404, b'{"error": "not found"}')
        wish = json.loads(body)
        if not wish["amount"] > 0:
            return self.answer(422, b'{"error": "an amount is positive"}')
        try:
            self.answer(201, charge(self.headers["Stet-Token"], wish["amount"], wish.get("note")))
        except psycopg2.Error as error:
            self.log_error("%s", error)
            self.answer(500, b'{"error": "not charged, as far as this service knows: ask again with the same key"}')

    def answer(self, status, body):
        self.send_response(status)
        for name, value in [*JSON_TYPE, ["Content-Length", str(len(body))]]:
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)


http.server.ThreadingHTTPServer.request_queue_size = 128
http.server.ThreadingHTTPServer(("127.0.0.1", int(os.environ["PORT"])), Charges).serve_forever()
