"""Limits, each reached from outside (docs/http.md, "Limits")."""

import time

import pytest
from support.concurrently import background
from support.http_client import Closed, Connection, wire
from support.processes import is_sanitized
from support.stores import about_one_process
from support.upstream import Gate, wait_until

AUTH = {"Authorization": "Bearer alice"}


def refused(gateway, raw):
    """What the gateway says to these bytes before it closes the connection."""
    with Connection(gateway.address) as connection:
        connection.send(raw)
        answer = connection.read_answer()
        assert connection.is_closed()
        return answer


def test_a_request_line_over_8_kib_is_refused(gateway, upstream):
    fits = b"GET /" + b"a" * (8192 - len("GET / HTTP/1.1")) + b" HTTP/1.1\r\nHost: x\r\n\r\n"
    with Connection(gateway.address) as connection:
        connection.send(fits)
        assert connection.read_answer().status == 201
    answer = refused(gateway, fits.replace(b"aa", b"aaa", 1))
    assert answer.status in (400, 414, 431)
    assert len(upstream.seen) == 1


def test_headers_over_32_kib_are_refused(gateway, upstream):
    def with_headers(size):
        lines = b"".join(b"X-%03d: %s\r\n" % (i, b"v" * 990) for i in range(30))
        rest = size - len(lines) - len("Host: x\r\n") - len("X-Rest: \r\n")
        return b"GET / HTTP/1.1\r\nHost: x\r\n" + lines + b"X-Rest: " + b"w" * rest + b"\r\n\r\n"

    with Connection(gateway.address) as connection:
        connection.send(with_headers(32 * 1024 - 64))
        assert connection.read_answer().status == 201
    assert refused(gateway, with_headers(32 * 1024 + 64)).status in (400, 431)


def test_more_than_100_fields_are_refused(gateway, upstream):
    def with_fields(count):
        return b"GET / HTTP/1.1\r\nHost: x\r\n" + b"".join(b"X-%d: 1\r\n" % i for i in range(count - 1)) + b"\r\n"

    with Connection(gateway.address) as connection:
        connection.send(with_fields(100))
        assert connection.read_answer().status == 201
    assert refused(gateway, with_fields(101)).status in (400, 431)


def test_limits_are_configurable(start_gateway, upstream):
    gateway = start_gateway("limits.request_line = 100\nlimits.header_fields = 8\nlimits.headers = 1024\n")
    with Connection(gateway.address) as connection:
        connection.send(b"GET /short HTTP/1.1\r\nHost: x\r\n\r\n")
        assert connection.read_answer().status == 201
    assert refused(gateway, b"GET /" + b"a" * 100 + b" HTTP/1.1\r\nHost: x\r\n\r\n").status in (400, 414, 431)
    assert refused(gateway, b"GET / HTTP/1.1\r\nHost: x\r\n" + b"A: 1\r\n" * 8 + b"\r\n").status in (400, 431)
    assert refused(gateway, b"GET / HTTP/1.1\r\nHost: x\r\nA: " + b"v" * 1100 + b"\r\n\r\n").status in (400, 431)


def closes_within(connection, low, high, since):
    """That the gateway ends this connection so many seconds after a moment before its time began, whatever it says before."""
    connection.socket.settimeout(high + 5)
    try:
        said = connection.read_to_end()
    except Closed as closed:
        said = closed.got
    took = time.monotonic() - since
    assert low <= took <= high, f"closed after {took:.2f} s, said {said[:100]!r}"
    return said


def test_a_header_that_comes_too_slowly_is_cut_off_in_all_and_not_per_read(start_gateway, upstream):
    gateway = start_gateway('limits.header_timeout = "1s"\n')
    with Connection(gateway.address) as connection:
        connection.send(b"GET / HTTP/1.1\r\n")
        for _ in range(75):  # fifteen seconds, if nobody ends it
            time.sleep(0.2)
            try:
                connection.send(b"X: 1\r\n")
            except OSError:
                break
        else:
            pytest.fail("each read begins the time anew")
        closes_within(connection, 0, 10, time.monotonic())
    assert upstream.seen == []


def test_a_body_that_stalls_is_cut_off_and_claims_nothing(start_gateway, upstream, key):
    gateway = start_gateway('limits.body_idle_timeout = "500ms"\n')
    with Connection(gateway.address) as connection:
        began = time.monotonic()
        connection.send(wire("POST", "/charges", {**AUTH, "Idempotency-Key": key, "Content-Length": "10"}) + b"half")
        closes_within(connection, 0.3, 15, began)
    assert upstream.seen == [] and gateway.operations() == []


def test_an_idle_connection_is_closed_after_keep_alive(start_gateway, upstream):
    gateway = start_gateway('limits.keep_alive = "500ms"\n')
    with Connection(gateway.address) as connection:
        began = time.monotonic()
        connection.send(wire("GET", "/x", AUTH))
        assert connection.read_answer().status == 201
        assert closes_within(connection, 0.3, 15, began) == b""


def test_a_client_that_never_reads_does_not_hold_up_the_others(start_gateway, upstream, key):
    gateway = start_gateway()
    upstream.default = lambda request, wire_: wire_.answer(200, {}, b"x" * 500_000)
    stuck = [Connection(gateway.address) for _ in range(5)]
    for connection in stuck:
        connection.send(wire("GET", "/big", AUTH) * 20)
    time.sleep(0.2)
    began = time.monotonic()
    assert gateway.client(AUTH).post(key=key).status == 200
    assert time.monotonic() - began < 10
    for connection in stuck:
        connection.close()


def test_a_refusal_can_be_read_although_the_client_is_still_sending(gateway, upstream, key):
    """The lingering close of RFC 9112 section 9.6: a reset must not destroy the answer on its way."""
    with Connection(gateway.address) as connection:
        head = wire("POST", "/charges", {**AUTH, "Idempotency-Key": key, "Content-Length": "30000000"})
        connection.send(head)
        sent = 0
        try:
            while sent < 30_000_000:
                connection.send(b"x" * 100_000)
                sent += 100_000
                if sent > 2_000_000:
                    break
        except OSError:
            pass
        answer = connection.read_answer()
        assert answer.status == 413 and answer.problem == "body-too-large"
        # No answer says so, and yet what follows is body: nothing of it may be taken for a request.
        try:
            connection.send(wire("GET", "/smuggled", AUTH))
        except OSError:
            pass
    time.sleep(0.2)
    assert upstream.seen == []


@about_one_process("a process's limit")
def test_waiters_in_all_are_bounded(start_gateway, upstream, key):
    gateway = start_gateway('limits.waiters = 2\n[defaults]\nin_progress = "wait"\n')
    client = gateway.client(AUTH)
    gates = [Gate(), Gate()]
    upstream.plan(*gates)
    firsts = [background(client.post, key=f"{key}-{i}") for i in range(2)]
    for gate in gates:
        assert gate.entered.wait(20)
    waiters = [background(client.post, key=f"{key}-{i % 2}") for i in range(4)]
    wait_until(lambda: sum(not w.running() for w in waiters) == 2)
    for gate in gates:
        gate.open()
    assert sorted(w.result().status for w in waiters) == [201, 201, 503, 503]
    for first in firsts:
        assert first.result().status == 201


@pytest.mark.skipif(is_sanitized(), reason="UBSan's own checks want descriptors, and call what they cannot see wrong")
@pytest.mark.parametrize("descriptors", [64])
def test_running_out_of_descriptors_fails_no_claimed_operation(start_gateway, upstream, key, descriptors):
    gateway = start_gateway(wrapper=["prlimit", f"--nofile={descriptors}"])
    client = gateway.client(AUTH)
    idle = []
    try:
        for _ in range(descriptors * 2):
            idle.append(Connection(gateway.address, timeout=1))
        time.sleep(0.3)
    except OSError:
        pass
    for connection in idle:
        connection.close()
    wait_until(lambda: client.post(key=key).status == 201, 30)
    assert client.post(key=key).outcome == "replayed"
    assert len(upstream.effects) == 1
