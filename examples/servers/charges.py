"""A small charges API, without the part that makes it safe to retry.

Each server beside this file adds that part, most of them wrongly, and each wrong one in one classic way. What they
share is here: HTTP, validation, the reading of the key, the tables. Only Python's standard library is used.

    python3 right.py [--port 0] [--db FILE] [--provider http://host:port]

POST /charges {"amount": 4900, "note": "…"} makes a charge, GET /charges lists them. POST /refunds takes the same body.
"""

import argparse
import hashlib
import json
import socket
import sqlite3
import tempfile
import time
import urllib.error
import urllib.request
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

WORK = 0.03  # seconds that an operation takes: wide enough for a race, short enough for a test

SCHEMA = """
CREATE TABLE IF NOT EXISTS effects (
  id INTEGER PRIMARY KEY AUTOINCREMENT, route TEXT NOT NULL, caller TEXT NOT NULL, amount INTEGER NOT NULL, note TEXT);
CREATE TABLE IF NOT EXISTS idempotency (
  caller TEXT, route TEXT, key TEXT, fingerprint BLOB, status INTEGER, headers TEXT, body BLOB,
  PRIMARY KEY (caller, route, key));
"""


@dataclass
class Request:
    route: str
    caller: str
    key: str
    order: dict
    hung_up: object = lambda: False

    @property
    def fingerprint(self):
        """Of what the request means: member order and whitespace do not matter."""
        return hashlib.sha256(json.dumps(self.order, sort_keys=True).encode()).digest()


@dataclass
class Answer:
    status: int
    body: bytes
    headers: dict = field(default_factory=lambda: {"Content-Type": "application/json"})


def json_answer(status, value, **headers):
    headers = {name.replace("_", "-"): str(text) for name, text in headers.items()}
    return Answer(status, json.dumps(value).encode(), {"Content-Type": "application/json", **headers})


IN_PROGRESS = json_answer(409, {"error": "a request with this key is in progress"}, Retry_After=1)
REUSED = json_answer(422, {"error": "this key was used for another request"})


class ProviderDown(Exception):
    pass


class Charges:
    """The API. A server overrides `handle` with its own idea of idempotency."""

    requires_key = True

    def __init__(self, db_path, provider=None):
        self.db_path = db_path
        self.provider = provider
        with self.connection() as db:
            db.execute("PRAGMA journal_mode = WAL")
            db.executescript(SCHEMA)

    def handle(self, request):
        raise NotImplementedError

    @contextmanager
    def connection(self):
        db = sqlite3.connect(self.db_path, timeout=20, isolation_level=None)
        try:
            yield db
        finally:
            db.close()

    @contextmanager
    def transaction(self):
        """Holds the write lock from the first line on: whoever comes second waits here, and then sees all of it."""
        with self.connection() as db:
            db.execute("BEGIN IMMEDIATE")
            try:
                yield db
                db.execute("COMMIT")
            except BaseException:
                db.execute("ROLLBACK")
                raise

    def act(self, db, request):
        """The effect, and its answer."""
        time.sleep(WORK / 2)
        if self.provider:
            self.call_provider(request)
        order = request.order
        cursor = db.execute(
            "INSERT INTO effects (route, caller, amount, note) VALUES (?, ?, ?, ?)",
            (request.route, request.caller, order["amount"], order.get("note")),
        )
        time.sleep(WORK / 2)
        number = cursor.lastrowid
        made = {"id": f"{request.route.strip('/')}-{number:08d}", "amount": order["amount"], "note": order.get("note")}
        return json_answer(201, made, Location=f"{request.route}/{number}")

    def call_provider(self, request):
        key = hashlib.sha256(f"{request.caller}\n{request.route}\n{request.key}".encode()).hexdigest()
        call = urllib.request.Request(self.provider, data=b"{}", headers={"Idempotency-Key": key})
        try:
            urllib.request.urlopen(call, timeout=5).read()
        except (urllib.error.URLError, OSError) as error:
            raise ProviderDown(str(error)) from error

    @staticmethod
    def kept(db, request):
        """(fingerprint, answer) under the request's key, or None. The answer is None while there is none yet."""
        row = db.execute(
            "SELECT fingerprint, status, headers, body FROM idempotency WHERE caller = ? AND route = ? AND key = ?",
            (request.caller, request.route, request.key),
        ).fetchone()
        if row is None:
            return None
        fingerprint, status, headers, body = row
        if status is None:
            return fingerprint, None
        return fingerprint, Answer(status, body, {**json.loads(headers), "Idempotent-Replayed": "true"})

    @staticmethod
    def keep(db, request, answer):
        db.execute(
            "INSERT OR REPLACE INTO idempotency VALUES (?, ?, ?, ?, ?, ?, ?)",
            (request.caller, request.route, request.key, request.fingerprint, answer.status,
             json.dumps(answer.headers), answer.body),
        )

    def listed(self, route):
        with self.connection() as db:
            rows = db.execute("SELECT id, amount FROM effects WHERE route = ? ORDER BY id", (route,)).fetchall()
        return json_answer(200, {"data": [{"id": number, "amount": amount} for number, amount in rows]})


def parse_key(lines):
    """The draft standard's string or the bare form; None for what is no key."""
    if len(lines) != 1:
        return None
    key = lines[0].strip()
    if len(key) >= 2 and key[0] == key[-1] == '"':
        key = key[1:-1]
    visible = all("!" <= c <= "~" and c not in '",;\\' for c in key)
    return key if 1 <= len(key) <= 255 and visible else None


def parse_order(body):
    try:
        order = json.loads(body)
    except ValueError:
        return None
    valid = isinstance(order, dict) and type(order.get("amount")) is int and order["amount"] > 0
    return order if valid else None


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    wbufsize = -1
    api = None

    def do_GET(self):
        self.send(self.api.listed(self.path))

    def do_POST(self):
        length = int(self.headers.get("Content-Length", 0))
        body = self.rfile.read(length)
        if len(body) < length:  # half a request is no request
            self.close_connection = True
            return
        self.send(self.answer(body))

    def answer(self, body):
        if self.path not in ("/charges", "/refunds"):
            return json_answer(404, {"error": "no such route"})
        key = parse_key(self.headers.get_all("Idempotency-Key", []))
        if key is None and self.api.requires_key:
            return json_answer(400, {"error": "one Idempotency-Key of 1 to 255 visible characters is required"})
        order = parse_order(body)
        if order is None:
            return json_answer(400, {"error": "amount must be a whole number above 0"})
        caller = self.headers.get("Authorization", "anonymous")
        try:
            return self.api.handle(Request(self.path, caller, key, order, self.hung_up))
        except ProviderDown as down:
            return json_answer(503, {"error": f"the payment provider is down: {down}"}, Retry_After=1)

    def hung_up(self):
        self.connection.setblocking(False)
        try:
            return self.connection.recv(1, socket.MSG_PEEK) == b""
        except BlockingIOError:
            return False
        except OSError:
            return True
        finally:
            self.connection.setblocking(True)

    def send(self, answer):
        try:
            self.send_response(answer.status)
            for name, value in answer.headers.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(answer.body)))
            self.end_headers()
            self.wfile.write(answer.body)
            self.wfile.flush()
        except OSError:  # nobody listens any more
            self.close_connection = True

    def handle(self):
        try:
            super().handle()
        except OSError:
            pass

    def finish(self):
        try:
            super().finish()
        except OSError:
            pass

    def log_message(self, *_):
        pass


class Server(ThreadingHTTPServer):
    request_queue_size = 256
    daemon_threads = True


def serve(api_class):
    options = argparse.ArgumentParser(description=api_class.__doc__)
    options.add_argument("--port", type=int, default=0, help="0 picks one, which is printed")
    options.add_argument("--db", help="an SQLite file; default: a new one")
    options.add_argument("--provider", help="URL of a payment provider to call for each charge")
    given = options.parse_args()
    db = given.db or tempfile.mkstemp(suffix=".db")[1]
    handler = type("BoundHandler", (Handler,), {"api": api_class(db, given.provider)})
    server = Server(("127.0.0.1", given.port), handler)
    print(f"listening on http://127.0.0.1:{server.server_address[1]}", flush=True)
    server.serve_forever()
