"""`stet probe` at APIs that cannot take sixteen connections at once: it tries what they can take, and says how many that were."""

import concurrent.futures
import json
import re
import threading
import time
from http.server import BaseHTTPRequestHandler, HTTPServer
from socketserver import ThreadingMixIn

import pytest
from support.probing import probe
from support.tls import Authority


class Charges(BaseHTTPRequestHandler):
    """Right: one effect for each key. One request after the other is answered, whoever waits."""

    def do_GET(self):
        self.answer(200, str(len(self.server.answers)).encode())

    def do_POST(self):
        self.rfile.read(int(self.headers["Content-Length"]))
        key = self.headers["Idempotency-Key"]
        self.server.answers.setdefault(key, json.dumps({"id": f"charge-{len(self.server.answers)}"}).encode())
        self.answer(201, self.server.answers[key])

    def answer(self, status, body):
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


class OneAfterTheOther(HTTPServer):
    request_queue_size = 5  # the default of Python's socketserver and of cpp-httplib

    def __init__(self, context=None, handler=Charges):
        super().__init__(("127.0.0.1", 0), handler)
        if context:
            self.socket = context.wrap_socket(self.socket, server_side=True)
        self.answers = {}
        threading.Thread(target=self.serve_forever, args=(0.05,), daemon=True).start()

    def handle_error(self, *_):
        pass  # callers that were not waited for


@pytest.fixture
def serve():
    servers = []

    def start(context=None):
        servers.append(OneAfterTheOther(context))
        return servers[-1].server_address[1]

    yield start
    for server in servers:
        server.shutdown()
        server.server_close()


def ask(url, *arguments, within=20):
    begun = time.monotonic()
    verdict = probe("POST", url, "-d", '{"amount":1}', "--effects", "GET /", "--check", "at-once", *arguments)
    assert time.monotonic() - begun < within, "it waited for connections that the API does not take"
    return verdict.exit_code, verdict.checks["at-once"]


def test_a_short_queue_of_connections_is_no_fault_and_is_named(serve):
    status, check = ask(f"http://127.0.0.1:{serve()}/charges", "--rounds", "20", within=60)
    assert (status, check["result"]) == (0, "pass"), check
    # One more than the queue's size, as Linux counts, and the one that is served if it has been taken from the queue by then.
    sent = re.fullmatch(r"sent (6|7|6 to 7) equal requests at the same moment, 20 times", check["did"])
    assert sent and f"of 16 connections at once the API took only {sent[1]} (" in check["saw"], check


def test_an_api_that_takes_one_connection_only_is_not_judged(serve, tmp_path):
    authority = Authority(tmp_path)
    url = f"https://127.0.0.1:{serve(authority.server_context())}/charges"
    status, check = ask(url, "--rounds", "3", "--cacert", str(authority.certificate))
    assert (status, check["result"]) == (3, "skip"), check
    assert "took only one of 16 connections" in check["saw"], check


def test_threads_that_wait_on_kept_connections_are_not_waited_for():
    """cpp-httplib and others: eight threads, each with one connection, which it keeps for five seconds after its answer."""

    class Kept(Charges):
        protocol_version = "HTTP/1.1"
        timeout = 5

    class EightThreads(OneAfterTheOther):
        request_queue_size = 128

        def process_request(self, request, client_address):
            self.pool.submit(self.process_request_thread, request, client_address)

        process_request_thread = ThreadingMixIn.process_request_thread

    with EightThreads(handler=Kept) as server, concurrent.futures.ThreadPoolExecutor(8) as server.pool:
        status, check = ask(f"http://127.0.0.1:{server.server_address[1]}/charges", "--rounds", "10")
        server.shutdown()
    assert (status, check["result"]) == (0, "pass"), check
    assert check["did"].startswith("sent 16 equal requests"), check


def test_a_queue_that_is_long_enough_is_filled(serve):
    status, check = ask(f"http://127.0.0.1:{serve()}/charges", "--rounds", "5", "--concurrency", "4")
    assert (status, check["result"]) == (0, "pass"), check
    assert check["did"] == "sent 4 equal requests at the same moment, 5 times" and "only" not in check["saw"], check
