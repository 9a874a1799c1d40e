#!/usr/bin/env python3
"""A payment provider that is not there: charges cards of paper, idempotently by key, and behaves badly on demand.

    python3 provider.py --listen 127.0.0.1:8091 --db provider.db --webhook http://127.0.0.1:8090/webhooks/provider --secret s

    POST /charges    {"amount", "card", "payment"} with an Idempotency-Key → 201 {"id", "amount"}, or 402 for the card
                     "declined"
    GET  /charges    every charge: {"data": [{"id", "key", "payment", "amount"}]}
    GET  /stats      {"requests", "repeats", "charges", "events", "delivered", "deliveries"}
    POST /faults     {"lose": 0.3, "twice": true, "slow": 0.05, "more": 1}: from now on so many requests or answers are
                     lost, every webhook is sent twice, and every charge takes so many seconds and so many cents too many
"""

import argparse
import hashlib
import hmac
import http.client
import http.server
import json
import random
import sqlite3
import threading
import time
import urllib.request
import uuid

SCHEMA = """
create table if not exists charges (key text primary key, id text, payment text, asked integer, amount integer, card text, status integer);
create table if not exists events (id text primary key, body text, delivered integer not null default 0);
"""


class Provider:
    def __init__(self, db, webhook, secret):
        self.db = sqlite3.connect(db, check_same_thread=False, isolation_level=None)
        self.db.executescript("pragma journal_mode = wal; pragma synchronous = full;" + SCHEMA)
        self.lock = threading.Lock()
        self.webhook = webhook
        self.secret = secret
        self.faults = {"lose": 0.0, "twice": False, "slow": 0.0, "more": 0}
        self.counts = {"requests": 0, "repeats": 0, "deliveries": 0}
        self.news = threading.Event()

    def charge(self, key, wish):
        """(status, answer). The charge and its event are one transaction, so that neither is there without the other."""
        with self.lock:
            self.counts["requests"] += 1
            known = self.db.execute("select id, amount, status, payment, asked, card from charges where key = ?", (key,)).fetchone()
            if known:
                self.counts["repeats"] += 1
                if known[3:] != (wish["payment"], wish["amount"], wish["card"]):
                    return 422, {"error": "this key was used for another charge"}
                return known[2], {"id": known[0], "amount": known[1]}
            status = 402 if wish["card"] == "declined" else 201
            charge = "ch_" + uuid.uuid4().hex
            amount = wish["amount"] + self.faults["more"]
            self.db.execute("begin immediate")
            self.db.execute("insert into charges values (?, ?, ?, ?, ?, ?, ?)",
                            (key, charge, wish["payment"], wish["amount"], amount, wish["card"], status))
            if status == 201:
                event = {"id": "evt_" + uuid.uuid4().hex, "type": "charge.settled", "charge": charge,
                         "payment": wish["payment"], "amount": amount}
                self.db.execute("insert into events (id, body) values (?, ?)", (event["id"], json.dumps(event)))
            self.db.execute("commit")
        self.news.set()
        return status, {"id": charge, "amount": amount}

    def charges(self):
        with self.lock:
            rows = self.db.execute("select id, key, payment, amount from charges where status = 201 order by rowid").fetchall()
        return {"data": [dict(zip(("id", "key", "payment", "amount"), row)) for row in rows]}

    def stats(self):
        with self.lock:
            (charges,) = self.db.execute("select count(*) from charges where status = 201").fetchone()
            events, delivered = self.db.execute("select count(*), coalesce(sum(delivered), 0) from events").fetchone()
            return {**self.counts, "charges": charges, "events": events, "delivered": delivered}

    def deliver_for_ever(self):
        """Every event until somebody has answered 2xx to it: at least once, in no order that anybody may rely on."""
        while True:
            self.news.clear()
            with self.lock:
                due = self.db.execute("select id, body from events where not delivered limit 50").fetchall()
            random.shuffle(due)
            for event, body in due:
                if self.deliver(event, body):
                    with self.lock:
                        self.db.execute("update events set delivered = 1 where id = ?", (event,))
            if not due:
                self.news.wait(1)
            elif random.random() < 0.2:
                time.sleep(0.05)

    def deliver(self, event, body):
        copies = [threading.Thread(target=self.send, args=(event, body)) for _ in range(1 if self.faults["twice"] else 0)]
        for copy in copies:  # at the same moment as the first
            copy.start()
        accepted = self.send(event, body)
        for copy in copies:
            copy.join()
        return accepted

    def send(self, event, body):
        at = str(int(time.time()))
        signature = hmac.new(self.secret.encode(), f"{event}.{at}.{body}".encode(), hashlib.sha256).hexdigest()
        headers = {"Content-Type": "application/json", "webhook-id": event, "webhook-timestamp": at, "webhook-signature": signature}
        self.counts["deliveries"] += 1
        try:
            request = urllib.request.Request(self.webhook, body.encode(), headers, method="POST")
            with urllib.request.urlopen(request, timeout=5) as answer:
                # Sometimes the 2xx is lost on the way back, and it comes again.
                return answer.status < 300 and random.random() >= self.faults["lose"] / 2
        except (OSError, http.client.HTTPException):  # no answer, or what is none
            time.sleep(0.02)
            return False


def handler(provider):
    class Handler(http.server.BaseHTTPRequestHandler):
        def answer(self, status, body):
            data = json.dumps(body).encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def do_GET(self):
            asked = {"/charges": provider.charges, "/stats": provider.stats}.get(self.path)
            self.answer(200, asked()) if asked else self.answer(404, {})

        def do_POST(self):
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            if self.path == "/faults":
                provider.faults.update(body)
                return self.answer(200, provider.faults)
            if self.path != "/charges" or not self.headers["Idempotency-Key"]:
                return self.answer(400, {"error": "POST /charges with an Idempotency-Key"})
            if random.random() < provider.faults["lose"] / 2:
                return self.connection.close()  # the request is lost: nothing happens
            time.sleep(provider.faults["slow"])
            status, answer = provider.charge(self.headers["Idempotency-Key"], body)
            if random.random() < provider.faults["lose"]:
                return self.connection.close()  # it has happened, and nobody hears of it
            self.answer(status, answer)

        def log_message(self, *_):
            pass

    return Handler


class Server(http.server.ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 128

    def handle_error(self, *_):
        pass  # callers that hung up


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--listen", default="127.0.0.1:8091")
    options.add_argument("--db", default="provider.db")
    options.add_argument("--webhook", default="http://127.0.0.1:8090/webhooks/provider")
    options.add_argument("--secret", default="whsec_example")
    given = options.parse_args()
    provider = Provider(given.db, given.webhook, given.secret)
    host, port = given.listen.rsplit(":", 1)
    server = Server((host, int(port)), handler(provider))
    threading.Thread(target=provider.deliver_for_ever, daemon=True).start()
    print(f"provider at http://{host}:{server.server_address[1]}", flush=True)
    try:
        server.serve_forever()
    except KeyboardInterrupt:
        pass


if __name__ == "__main__":
    main()
