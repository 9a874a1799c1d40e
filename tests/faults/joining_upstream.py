"""An upstream that joins its transaction to the key's, as a process of its own: it can be killed, paused and doubled. Its table
`effects` is the ledger. What it shall do at a request is in X-Do, words apart by spaces:

    before=S  sleeps between BEGIN with its effect and stet.complete     hold=S  between stet.complete and COMMIT
    after=S   between COMMIT and the answer                              lose    commits, and breaks the connection
    refuse    answers 429 without an effect                              fail    answers 500 after a rollback
    plain     commits its effect without stet.complete                   fence   the same, after stet.fence
    prepare   prepares the transaction under the key's name, leaves it there, and answers 500
"""

import http.server
import json
import os
import pathlib
import socket
import struct
import sys
import time

if __name__ != "__main__":
    from support.ports import free_port
    from support.processes import Process

import psycopg2

TABLES = """
create table effects (id integer generated always as identity primary key, scope text, key text, attempt int, upstream int, at float8, body text);
create table arrivals (key text, attempt int, upstream int);
create index on effects (key);
"""
REFUSAL = b"refused without an effect"
FAILURE = b"rolled back"


class Upstream:
    """The process, on a port that stays the same when it is started again."""

    def __init__(self, database_url):
        self.port = free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        self.database_url = database_url
        self.process = None

    def start(self, within=20):
        self.process = Process(["/usr/bin/python3", str(pathlib.Path(__file__)), str(self.port), self.database_url])
        end = time.monotonic() + within
        while True:
            try:
                socket.create_connection(("127.0.0.1", self.port), 5).close()
                return self
            except OSError:
                assert self.process.is_running() and time.monotonic() < end, self.process.output()
                time.sleep(0.02)

    restart = start

    def kill(self):
        self.process.kill()

    def end(self):
        if self.process is not None:
            self.process.end()


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self):
        length = int(self.headers["Content-Length"])
        request = self.rfile.read(length)
        if len(request) < length:
            return
        wishes = dict(word.partition("=")[::2] for word in self.headers.get("X-Do", "").split())
        sleep = lambda name: time.sleep(float(wishes.get(name, 0)))  # noqa: E731
        if "refuse" in wishes:
            return self.answer(429, REFUSAL)
        attempt = int(self.headers.get("Stet-Attempt", 0))
        try:
            db = psycopg2.connect(self.server.database_url)
        except psycopg2.OperationalError as error:
            print(f"not connected: {error}", flush=True)
            return self.answer(500, FAILURE)
        try:
            with db.cursor() as sql:
                key = self.headers["Idempotency-Key"]
                sql.execute("insert into arrivals values (%s, %s, %s)", (key, attempt, os.getpid()))
                db.commit()
                sql.execute("insert into effects (scope, key, attempt, upstream, at) values (%s, %s, %s, %s, %s) returning id",
                            (self.headers["Authorization"], key, attempt, os.getpid(), time.monotonic()))
                (number,) = sql.fetchone()
                body = json.dumps({"id": number, "of": request.decode()})
                sql.execute("update effects set body = %s where id = %s", (body, number))
                sleep("before")
                if "fail" in wishes:
                    db.rollback()
                    return self.answer(500, FAILURE)
                if "fence" in wishes:
                    sql.execute("select stet.fence(%s)", (self.headers["Stet-Token"],))
                elif "plain" not in wishes:
                    sql.execute("select stet.complete(%s, 201, %s, %s)",
                                (self.headers["Stet-Token"], '[["Content-Type", "application/json"]]', body.encode()))
                sleep("hold")
                if "prepare" in wishes:
                    sql.execute("prepare transaction %s", (key,))
                    return self.answer(500, FAILURE)
                db.commit()
        except psycopg2.Error as error:
            print(f"{error.pgcode} {key} attempt {attempt}: {error}".strip(), flush=True)
            return self.answer(500, FAILURE)
        finally:
            db.close()
        sleep("after")
        if "lose" in wishes:
            self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            self.close_connection = True
            return None
        self.answer(201, body.encode())

    def answer(self, status, body):
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


class Threads(http.server.ThreadingHTTPServer):
    request_queue_size = 128

    def handle_error(self, request, client_address):
        pass  # the gateway was killed


if __name__ == "__main__":
    serving = Threads(("127.0.0.1", int(sys.argv[1])), Handler)
    serving.database_url = sys.argv[2]
    serving.serve_forever()
