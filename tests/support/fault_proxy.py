"""A TCP proxy that passes bytes on until a test says otherwise: cuts, stalls, drops one direction."""

import socket
import struct
import threading

RST = struct.pack("ii", 1, 0)


class FaultProxy:
    """`cut_request_after`, `cut_answer_after`: bytes of that direction to pass before both sides are reset; counted per
    connection, None for never. `swallow_answers`: answers are read and go nowhere, then the connection is cut;
    `swallow_next`: so many of them. `lose_all()`:
    what is said from then on by connections that are open goes nowhere, and nobody is told, as on a network that lost them."""

    def __init__(self, target):
        self.target = target
        self.cut_request_after = None
        self.cut_answer_after = None
        self.swallow_answers = False
        self.swallow_next = 0
        self.pause = threading.Event()
        self.pause.set()  # cleared: bytes wait
        self.cuts = 0
        self.connections = 0
        self.pairs = {}  # the two ends of a connection → the threads between them
        self.lost = set()
        self.lock = threading.Lock()
        self.closing = False
        self.listener = socket.create_server(("127.0.0.1", 0), backlog=128)
        self.address = self.listener.getsockname()
        self.url = "http://127.0.0.1:%d" % self.address[1]
        threading.Thread(target=self._accept, daemon=True).start()

    def close(self):
        self.closing = True
        try:
            self.listener.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass
        self.listener.close()
        self._cut_all()

    def cut_all(self):
        """Every connection is reset when this returns: its thread's recv has ended, which kept it open."""
        for thread in self._cut_all():
            thread.join(5)

    def _cut_all(self):
        with self.lock:
            pairs = dict(self.pairs)
        for pair in pairs:
            self._cut(pair)
        return [thread for pumps in pairs.values() for thread in pumps]

    def lose_all(self):
        with self.lock:
            self.lost |= self.pairs.keys()

    def _connect(self):
        """To a (host, port), or to the path of a unix socket."""
        if isinstance(self.target, tuple):
            server = socket.create_connection(self.target, timeout=5)
        else:
            server = socket.socket(socket.AF_UNIX)
            server.connect(str(self.target))
        server.settimeout(None)
        return server

    def _accept(self):
        while not self.closing:
            try:
                client, _ = self.listener.accept()
            except OSError:
                return
            try:
                server = self._connect()
            except OSError:
                client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, RST)
                client.close()
                continue
            pair = (client, server)
            pumps = [threading.Thread(target=self._pump, args=args, daemon=True)
                     for args in ((pair, client, server, "request"), (pair, server, client, "answer"))]
            with self.lock:
                self.connections += 1
                self.pairs[pair] = pumps
                for pump in pumps:
                    pump.start()

    def _cut(self, pair):
        with self.lock:
            if pair not in self.pairs:
                return
            del self.pairs[pair]
            self.cuts += 1
        for end in pair:
            try:
                end.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, RST)
                # Wakes the other pump; the reset goes out with the last close.
                end.shutdown(socket.SHUT_RD)
            except OSError:
                pass
            try:
                end.close()
            except OSError:
                pass

    def _swallows(self):
        with self.lock:
            if self.swallow_next == 0:
                return self.swallow_answers
            self.swallow_next -= 1
            return True

    def _limit(self, direction):
        return self.cut_request_after if direction == "request" else self.cut_answer_after

    def _pump(self, pair, source, sink, direction):
        passed = 0
        try:
            while True:
                data = source.recv(65536)
                self.pause.wait()
                if pair in self.lost:
                    if not data:
                        return
                    continue
                if not data:
                    sink.shutdown(socket.SHUT_WR)
                    return
                if direction == "answer" and self._swallows():
                    return self._cut(pair)
                limit = self._limit(direction)
                if limit is not None and passed + len(data) > limit:
                    sink.sendall(data[: max(0, limit - passed)])
                    return self._cut(pair)
                sink.sendall(data)
                passed += len(data)
        except OSError:
            self._cut(pair)
