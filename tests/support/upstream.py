"""An upstream whose every move a test writes down, with a ledger of what it received and what it did.

A behaviour is a function of (request, wire): it answers, stalls or breaks the connection. The ready-made ones below
count an effect unless they say otherwise.
"""

import itertools
import json
import socket
import struct
import threading
import time

from support.concurrently import background
from support.ports import free_port


class Request:
    def __init__(self, method, target, version, headers, body, raw_head, connection):
        self.method = method
        self.target = target
        self.version = version
        self.headers = headers
        self.body = body
        self.raw_head = raw_head
        self.connection = connection  # its number, from 1
        self.at = time.monotonic()

    @property
    def path(self):
        return self.target.split("?", 1)[0]

    def all(self, name):
        return [v for n, v in self.headers if n.lower() == name.lower()]

    def header(self, name):
        values = self.all(name)
        assert len(values) <= 1, f"the upstream got {name} {len(values)} times: {values}"
        return values[0] if values else None

    @property
    def key(self):
        return self.header("Idempotency-Key")

    def __repr__(self):
        return f"<{self.method} {self.target} {self.headers} {self.body[:200]!r}>"


class Wire:
    """The upstream's end of one connection."""

    def __init__(self, upstream, sock, number):
        self.upstream = upstream
        self.socket = sock
        self.number = number
        self.pending = b""
        self.open = True

    def send(self, data):
        try:
            self.socket.sendall(data)
        except OSError:
            self.open = False

    def answer(self, status=200, headers=(), body=b"", reason="X", close=False):
        if isinstance(body, str):
            body = body.encode()
        pairs = list(headers.items()) if isinstance(headers, dict) else list(headers)
        names = {n.lower() for n, _ in pairs}
        if not names & {"content-length", "transfer-encoding"} and status not in (204, 304):
            pairs.append(("Content-Length", str(len(body))))
        if close:
            pairs.append(("Connection", "close"))
        head = f"HTTP/1.1 {status} {reason}\r\n" + "".join(f"{n}: {v}\r\n" for n, v in pairs) + "\r\n"
        self.send(head.encode("latin-1") + body)
        if close:
            self.end()

    def end(self):
        """A clean end: FIN."""
        self.open = False
        try:
            self.socket.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass

    def cut(self):
        """A reset: RST."""
        self.open = False
        try:
            self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        except OSError:
            pass

    def peer_hung_up(self, within):
        """Whether the gateway ends this connection within so many seconds."""
        self.socket.settimeout(within)
        try:
            data = self.socket.recv(65536)
            self.pending += data
            return data == b""
        except (TimeoutError, socket.timeout):
            return False
        except OSError:
            return True
        finally:
            self.socket.settimeout(None)

    def _more(self):
        data = self.socket.recv(65536)
        if not data:
            raise EOFError
        self.pending += data

    def _until(self, mark):
        while mark not in self.pending:
            self._more()
        end = self.pending.index(mark) + len(mark)
        out, self.pending = self.pending[:end], self.pending[end:]
        return out

    def _exactly(self, count):
        while len(self.pending) < count:
            self._more()
        out, self.pending = self.pending[:count], self.pending[count:]
        return out

    def read_request(self):
        raw_head = self._until(b"\r\n\r\n")
        lines = raw_head[:-4].decode("latin-1").split("\r\n")
        method, target, version = lines[0].split(" ")
        headers = []
        for line in lines[1:]:
            name, value = line.split(":", 1)
            headers.append((name, value.strip()))

        def values(name):
            return [v for n, v in headers if n.lower() == name]

        # What a careless server would forgive is an error here: the gateway must never send it.
        assert len(values("content-length")) + len(values("transfer-encoding")) <= 1, headers
        assert len(values("host")) == 1, headers
        request = Request(method, target, version, headers, b"", raw_head, self.number)
        self.upstream.heads.append(request)
        if values("transfer-encoding"):
            assert values("transfer-encoding") == ["chunked"], headers
            while size := int(self._until(b"\r\n").strip(), 16):
                request.body += self._exactly(size)
                assert self._exactly(2) == b"\r\n"
            assert self._until(b"\r\n") == b"\r\n", "trailers went upstream"
        elif values("content-length"):
            request.body = self._exactly(int(values("content-length")[0]))
        return request


class Upstream:
    """Listens on a port of its own. `plan(...)` queues behaviours for the next keyed-or-not requests, `default` serves the
    rest. `seen` holds every whole request; `effects` those that a behaviour says were executed."""

    def __init__(self, default=None, ssl_context=None):
        self.default = default or created
        self.ssl_context = ssl_context
        self.seen = []
        self.heads = []
        self.effects = []
        self.errors = []
        self.connections = 0
        self.planned = []
        self.lock = threading.Lock()
        self.serial = itertools.count(1)
        self.wires = set()
        self.port = free_port()
        self.start()

    def start(self):
        self.stopped = threading.Event()  # of this time only: a thread of before may see it late
        self.listener = socket.create_server(("127.0.0.1", self.port), backlog=256, reuse_port=False)
        self.thread = threading.Thread(target=self._accept, args=(self.listener, self.stopped), daemon=True)
        self.thread.start()

    @property
    def url(self):
        return f"{'https' if self.ssl_context else 'http'}://127.0.0.1:{self.port}"

    def stop(self):
        """Stops listening and cuts what is open; `start` brings it back on the same port."""
        try:
            self.listener.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass
        self.listener.close()
        with self.lock:  # a connection whose thread has not come to its first request yet ends itself
            self.stopped.set()
            wires = list(self.wires)
        self.thread.join(5)
        for wire in wires:
            try:
                wire.socket.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass

    def plan(self, *behaviours):
        with self.lock:
            self.planned.extend(behaviours)

    def hold(self, function, *args, gate=None, **more):
        """Calls `function` in the background, which sends a request: (the call, the gate at which that request waits)."""
        gate = gate or Gate()
        self.plan(gate)
        call = background(function, *args, **more)
        assert gate.entered.wait(20), "the request never came"
        return call, gate

    def executed(self, request):
        with self.lock:
            self.effects.append(request)

    def effects_of(self, key):
        with self.lock:
            return [r for r in self.effects if r.key == key]

    def wait_for(self, count, within=20):
        """Until so many whole requests have come."""
        wait_until(lambda: len(self.seen) >= count, within, lambda: f"{len(self.seen)} of {count} requests came")

    def _accept(self, listener, stopped):
        while not stopped.is_set():
            try:
                sock, _ = listener.accept()
            except OSError:
                return
            with self.lock:
                self.connections += 1
                number = self.connections
            threading.Thread(target=self._serve, args=(sock, number, stopped), daemon=True).start()

    def _serve(self, sock, number, stopped):
        try:
            if self.ssl_context:
                sock = self.ssl_context.wrap_socket(sock, server_side=True)
            sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        except OSError:
            sock.close()
            return
        wire = Wire(self, sock, number)
        try:
            with self.lock:
                if stopped.is_set():
                    return
                self.wires.add(wire)
            while wire.open and not stopped.is_set():
                request = wire.read_request()
                with self.lock:
                    self.seen.append(request)
                    behaviour = self.planned.pop(0) if self.planned else self.default
                behaviour(request, wire)
        except (EOFError, OSError):
            pass
        except Exception as error:  # shown by the fixture at the end of the test
            self.errors.append(repr(error))
        finally:
            with self.lock:
                self.wires.discard(wire)
            try:
                sock.close()
            except OSError:
                pass


def wait_until(true, within=20, why=lambda: "it never came true"):
    end = time.monotonic() + within
    while not true():
        assert time.monotonic() < end, why()
        time.sleep(0.01)


# ---- behaviours ----


def created(request, wire):
    """201 with an id that is new each time: two effects can never look like one answer."""
    wire.upstream.executed(request)
    number = next(wire.upstream.serial)
    body = json.dumps({"id": f"ch_{number}", "key": request.key})
    wire.answer(201, [("Content-Type", "application/json"), ("Location", f"/charges/ch_{number}")], body, "Created")


def answers(status=200, headers=(), body=b"", reason="X", close=False):
    def behave(request, wire):
        wire.upstream.executed(request)
        wire.answer(status, headers, body, reason, close)

    return behave


def refuses(status, headers=(), body=b""):
    """Answers without an effect."""

    def behave(request, wire):
        wire.answer(status, headers, body)

    return behave


def sends(raw, then="keep"):
    """Exactly these bytes; then `keep`, `end` (FIN) or `cut` (RST). An effect."""

    def behave(request, wire):
        wire.upstream.executed(request)
        wire.send(raw)
        if then == "end":
            wire.end()
        elif then == "cut":
            time.sleep(0.05)  # so that the bytes arrive before the reset discards them
            wire.cut()

    return behave


def cuts(request, wire):
    """Executes, then breaks the connection without a byte of answer."""
    wire.upstream.executed(request)
    wire.cut()


def ends(request, wire):
    """Executes, then ends the connection cleanly without a byte of answer."""
    wire.upstream.executed(request)
    wire.end()


def drops(request, wire):
    """Breaks the connection, and nothing was executed."""
    wire.cut()


def after(seconds, then=created):
    def behave(request, wire):
        time.sleep(seconds)
        then(request, wire)

    return behave


class Gate:
    """A behaviour that waits until the test opens it."""

    def __init__(self, then=created):
        self.then = then
        self.opened = threading.Event()
        self.entered = threading.Event()

    def __call__(self, request, wire):
        self.entered.set()
        self.opened.wait(60)
        self.then(request, wire)

    def open(self):
        self.opened.set()
