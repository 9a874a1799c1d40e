"""An HTTP/1.1 client on a bare socket: what is sent is what the test wrote, byte for byte."""

import json
import socket
import struct
import time


class Closed(Exception):
    """The peer ended the connection before a whole answer was there; `got` is what came."""

    def __init__(self, why, got=b""):
        super().__init__(f"{why} after {got[:200]!r}")
        self.got = got


class Answer:
    def __init__(self, status, reason, headers, body, interim):
        self.status = status
        self.reason = reason
        self.headers = headers  # [(name, value)] in the order and spelling in which they came
        self.body = body
        self.interim = interim  # statuses of the 1xx answers before it

    def all(self, name):
        return [v for n, v in self.headers if n.lower() == name.lower()]

    def header(self, name):
        values = self.all(name)
        assert len(values) <= 1, f"{name} came {len(values)} times: {values}"
        return values[0] if values else None

    def json(self):
        return json.loads(self.body)

    @property
    def outcome(self):
        return self.header("Stet-Outcome")

    @property
    def replayed(self):
        return self.header("Idempotent-Replayed") == "true"

    @property
    def problem(self):
        """The name of the problem type, or None when this is no problem document."""
        if (self.header("Content-Type") or "").split(";")[0].strip() != "application/problem+json":
            return None
        return self.json()["type"].rsplit("/", 1)[1]

    def __repr__(self):
        return f"<{self.status} {self.headers} {self.body[:300]!r}>"


class Connection:
    def __init__(self, address, timeout=10):
        self.socket = socket.create_connection(address, timeout=timeout)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.pending = b""

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def send(self, data):
        self.socket.sendall(data)

    def send_in_pieces(self, pieces, pause=0.002):
        for piece in pieces:
            self.socket.sendall(piece)
            time.sleep(pause)

    def finish_sending(self):
        self.socket.shutdown(socket.SHUT_WR)

    def close(self):
        self.socket.close()

    def reset(self):
        """Ends the connection with RST instead of FIN."""
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.socket.close()

    def _more(self):
        try:
            data = self.socket.recv(65536)
        except ConnectionResetError:
            raise Closed("reset", self.pending) from None
        if not data:
            raise Closed("end of stream", self.pending)
        self.pending += data

    def read_until(self, mark):
        while mark not in self.pending:
            self._more()
        end = self.pending.index(mark) + len(mark)
        out, self.pending = self.pending[:end], self.pending[end:]
        return out

    def read_exactly(self, count):
        out, self.pending = bytearray(self.pending[:count]), self.pending[count:]
        while len(out) < count:
            try:
                data = self.socket.recv(min(count - len(out), 1 << 20))
            except ConnectionResetError:
                raise Closed("reset", bytes(out)) from None
            if not data:
                raise Closed("end of stream", bytes(out))
            out += data
        return bytes(out)

    def read_to_end(self):
        """Everything until the peer ends the stream. A reset raises."""
        while True:
            try:
                self._more()
            except Closed as closed:
                if str(closed).startswith("reset"):
                    raise
                out, self.pending = self.pending, b""
                return out

    def is_closed(self, within=20):
        """Whether the peer ends the connection without sending anything more."""
        if self.pending:
            return False
        self.socket.settimeout(within)
        try:
            return self.socket.recv(1) == b""
        except ConnectionResetError:
            return True
        except (TimeoutError, socket.timeout):
            return False

    def read_head(self):
        head = self.read_until(b"\r\n\r\n").decode("latin-1")
        lines = head[:-4].split("\r\n")
        version, status, *reason = lines[0].split(" ", 2)
        assert version in ("HTTP/1.1", "HTTP/1.0"), lines[0]
        headers = []
        for line in lines[1:]:
            name, value = line.split(":", 1)
            headers.append((name, value.strip(" \t")))
        return int(status), (reason or [""])[0], headers

    def read_chunk(self):
        size = int(self.read_until(b"\r\n").split(b";")[0], 16)
        data = self.read_exactly(size)
        assert self.read_exactly(2) == b"\r\n"
        return data

    def read_answer(self, method="GET", timeout=None):
        if timeout is not None:
            self.socket.settimeout(timeout)
        interim = []
        status, reason, headers = self.read_head()
        while 100 <= status < 200 and status != 101:
            interim.append(status)
            status, reason, headers = self.read_head()

        def values(name):
            return [v for n, v in headers if n.lower() == name]

        if method == "HEAD" or status in (101, 204, 304):
            body = b""
        elif values("transfer-encoding"):
            assert values("transfer-encoding") == ["chunked"], headers
            assert not values("content-length"), headers
            body = b""
            while chunk := self.read_chunk():
                body += chunk
        elif values("content-length"):
            assert len(values("content-length")) == 1, headers
            body = self.read_exactly(int(values("content-length")[0]))
        else:
            body = self.read_to_end()
        return Answer(status, reason, headers, body, interim)


def wire(method, target, headers=(), body=b"", host="stet.test"):
    """A well-framed request as bytes. `headers`: pairs or a dict; a body gets its Content-Length unless told otherwise."""
    pairs = list(headers.items()) if isinstance(headers, dict) else list(headers)
    names = {name.lower() for name, _ in pairs}
    if "host" not in names:
        pairs.insert(0, ("Host", host))
    if (body or method in ("POST", "PUT", "PATCH")) and not names & {"content-length", "transfer-encoding"}:
        pairs.append(("Content-Length", str(len(body))))
    head = f"{method} {target} HTTP/1.1\r\n" + "".join(f"{n}: {v}\r\n" for n, v in pairs) + "\r\n"
    return head.encode("latin-1") + body


class Client:
    """One request, one connection, unless a test opens its own. An address may be a function that gives the next one."""

    def __init__(self, address, headers=()):
        self.next_address = address if callable(address) else lambda: address
        self.headers = list(headers.items()) if isinstance(headers, dict) else list(headers)

    def connect(self, timeout=10):
        return Connection(self.next_address(), timeout)

    def send(self, method, target, headers=(), body=b"", key=None, json_body=None, timeout=15):
        pairs = self.headers + (list(headers.items()) if isinstance(headers, dict) else list(headers))
        if key is not None:
            pairs.append(("Idempotency-Key", key))
        if json_body is not None:
            body = json_body if isinstance(json_body, bytes) else json.dumps(json_body).encode()
            if not any(name.lower() == "content-type" for name, _ in pairs):
                pairs.append(("Content-Type", "application/json"))
        if isinstance(body, str):
            body = body.encode()
        with self.connect(timeout) as connection:
            connection.send(wire(method, target, pairs, body))
            return connection.read_answer(method)

    def get(self, target, **more):
        return self.send("GET", target, **more)

    def post(self, target="/charges", **more):
        more.setdefault("json_body", None if "body" in more else {"amount": 4900, "currency": "eur"})
        return self.send("POST", target, **more)
