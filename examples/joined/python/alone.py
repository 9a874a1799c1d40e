"""The same service without a gateway: it claims the key, charges and keeps the answer in one transaction. A duplicate that
comes meanwhile waits for the commit, and gets the first one's answer.
    PORT=3000 DATABASE_URL=postgresql://… python3 alone.py
"""

import contextlib
import http.server
import json
import os
import re

import psycopg2
import psycopg2.extras

JSON_TYPE = [["Content-Type", "application/json"]]
CLAIM = "SELECT * FROM stet.claim(encode(sha256(convert_to(%s, 'UTF8')), 'hex'), %s, convert_to(%s, 'UTF8'))"
KEY = re.compile(r'"([!#-~]{1,255})"|([!#-~]{1,255})')


@contextlib.contextmanager
def transaction():
    """Committed at the end of the block, rolled back by an exception."""
    db = psycopg2.connect(os.environ["DATABASE_URL"], cursor_factory=psycopg2.extras.RealDictCursor)
    try:
        with db, db.cursor() as sql:
            yield sql
    finally:
        db.close()


def charge(caller, key, amount, note):
    """(status, headers, body). `caller` makes two callers' equal keys two; what the request means makes a key one request's."""
    with transaction() as sql:
        sql.execute(CLAIM, (caller, key, json.dumps(["POST /charges", amount, note])))
        claim = sql.fetchone()
        if claim["verdict"] == "claimed":
            sql.execute("INSERT INTO charges (amount, note) VALUES (%s, %s) RETURNING *", (amount, note))
            body = json.dumps(sql.fetchone()).encode()
            sql.execute("SELECT stet.complete(%s, 201, %s, %s)", (claim["token"], json.dumps(JSON_TYPE), body))
            return 201, JSON_TYPE, body
    if claim["verdict"] == "replay":
        return claim["status"], [*claim["headers"], ["Idempotent-Replayed", "true"]], bytes(claim["body"])
    if claim["verdict"] == "mismatch":
        return 422, JSON_TYPE, b'{"error": "this key came with another request"}'
    return 409, [*JSON_TYPE, ["Retry-After", "1"]], b'{"error": "this key is %s"}' % claim["verdict"].encode()


class Charges(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        if self.path != "/charges":
            return self.refuse(404, "not found")
        with transaction() as sql:
            sql.execute("SELECT * FROM charges ORDER BY id")
            self.answer(200, JSON_TYPE, json.dumps({"data": sql.fetchall()}).encode())

    def do_POST(self):
        length = int(self.headers["Content-Length"])
        body = self.rfile.read(length)
        if len(body) < length:
            return  # cut off on the way
        if self.path != "/charges":
            return self.refuse(404, "not found")
        keys = self.headers.get_all("Idempotency-Key", [])
        key = KEY.fullmatch(keys[0]) if len(keys) == 1 else None
        if key is None:
            return self.refuse(400, "one Idempotency-Key of 1 to 255 characters is needed")
        wish = json.loads(body)
        if not wish["amount"] > 0:
            return self.refuse(422, "an amount is positive")
        try:
            caller = self.headers.get("Authorization", "")
            self.answer(*charge(caller, key[1] or key[2], wish["amount"], wish.get("note")))
        except psycopg2.Error as error:
            self.log_error("%s", error)
            self.refuse(500, "ask again with the same key")

    def refuse(self, status, why):
        self.answer(status, JSON_TYPE, json.dumps({"error": why}).encode())

    def answer(self, status, headers, body):
        self.send_response(status)
        for name, value in [*headers, ["Content-Length", str(len(body))]]:
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)


http.server.ThreadingHTTPServer.request_queue_size = 128
http.server.ThreadingHTTPServer(("127.0.0.1", int(os.environ["PORT"])), Charges).serve_forever()
