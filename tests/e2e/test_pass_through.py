"""Unkeyed traffic: streamed both ways, Server-Sent Events, WebSocket upgrades, pipelining, keep-alive."""

import base64
import hashlib
import os
import time

import pytest
from support.http_client import Closed, Connection, wire
from support.upstream import Gate, answers, cuts, ends, sends, wait_until

AUTH = {"Authorization": "Bearer alice"}


def test_an_unkeyed_write_passes_and_runs_each_time(alice, upstream):
    one, two = alice.post(), alice.post()
    assert one.outcome is None and one.header("Idempotent-Replayed") is None
    assert one.body != two.body and len(upstream.effects) == 2


def test_an_unkeyed_body_is_streamed_before_it_has_ended(alice, upstream):
    with alice.connect() as connection:
        connection.send(wire("POST", "/upload", {**AUTH, "Transfer-Encoding": "chunked"}) + b"5\r\nhello\r\n")
        wait_until(lambda: upstream.heads)
        assert upstream.seen == []
        connection.send(b"0\r\n\r\n")
        assert connection.read_answer().status == 201
    assert upstream.seen[0].body == b"hello"


def test_an_unkeyed_answer_is_streamed_as_it_comes(alice, upstream):
    gate = Gate()

    def behave(request, wire_):
        wire_.send(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nfirst\r\n")
        gate.opened.wait(10)
        wire_.send(b"4\r\nlast\r\n0\r\n\r\n")

    upstream.plan(behave)
    with alice.connect() as connection:
        connection.send(wire("GET", "/slow", AUTH))
        connection.read_head()
        assert connection.read_chunk() == b"first"
        gate.open()
        assert connection.read_chunk() == b"last"
        assert connection.read_chunk() == b""


def test_server_sent_events_arrive_one_by_one(alice, upstream):
    seen = [Gate() for _ in range(3)]

    def behave(request, wire_):
        wire_.send(b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n")
        for i in range(3):
            wire_.send(b"data: %d\n\n" % i)
            seen[i].opened.wait(20)
        wire_.end()

    upstream.plan(behave)
    with alice.connect() as connection:
        connection.send(wire("GET", "/events", {**AUTH, "Accept": "text/event-stream", "Connection": "close"}))
        status, _, headers = connection.read_head()
        assert status == 200 and ("Content-Type", "text/event-stream") in headers
        for i in range(3):  # the next is sent when this one is here
            assert not seen[i].opened.is_set()
            assert connection.read_until(b"data: %d\n\n" % i)
            seen[i].open()


@pytest.mark.parametrize("size", [0, 1, 65_536, 5_000_000])
def test_bodies_of_every_size_pass_both_ways(alice, upstream, size):
    body = os.urandom(size)
    upstream.default = lambda request, wire_: wire_.answer(200, {}, request.body)
    assert alice.post(body=body).body == body
    chunked = (b"%x\r\n" % size + body + b"\r\n" if size else b"") + b"0\r\n\r\n"
    assert alice.post(body=chunked, headers={"Transfer-Encoding": "chunked"}).body == body


def test_a_websocket_upgrade_passes(alice, upstream):
    nonce = base64.b64encode(os.urandom(16)).decode()
    accept = base64.b64encode(hashlib.sha1((nonce + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11").encode()).digest()).decode()

    def behave(request, wire_):
        assert request.header("Upgrade").lower() == "websocket"
        assert "upgrade" in request.header("Connection").lower()
        assert request.header("Sec-WebSocket-Key") == nonce
        wire_.send(f"HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
                   f"Sec-WebSocket-Accept: {accept}\r\n\r\n".encode() + b"\x81\x02hi")
        while data := wire_.socket.recv(1000):
            wire_.send(data)

    upstream.plan(behave)
    with alice.connect() as connection:
        connection.send(wire("GET", "/socket", {**AUTH, "Connection": "Upgrade", "Upgrade": "websocket",
                                                "Sec-WebSocket-Key": nonce, "Sec-WebSocket-Version": "13"}))
        status, _, headers = connection.read_head()
        assert status == 101
        assert ("Sec-WebSocket-Accept", accept) in headers
        assert connection.read_exactly(4) == b"\x81\x02hi"
        for message in (b"one", b"\x00\xff" * 1000):
            connection.send(message)
            assert connection.read_exactly(len(message)) == message
        connection.finish_sending()
        assert connection.is_closed()


def test_an_upgrade_that_is_refused_is_an_ordinary_answer(alice, upstream):
    # Envoy CVE-2024-23326: a 200 was taken as an upgrade.
    upstream.plan(answers(200, {}, b"no"))
    with alice.connect() as connection:
        connection.send(wire("GET", "/socket", {**AUTH, "Connection": "Upgrade", "Upgrade": "websocket"}))
        answer = connection.read_answer()
        assert (answer.status, answer.body) == (200, b"no")
        connection.send(wire("GET", "/next", AUTH))
        assert connection.read_answer().status == 201
    assert [r.target for r in upstream.seen] == ["/socket", "/next"]


def test_a_keyed_request_is_no_upgrade(alice, upstream, key):
    answer = alice.post(key=key, headers={"Connection": "Upgrade", "Upgrade": "websocket"})
    assert answer.status in (201, 400)
    for got in upstream.seen:
        assert got.header("Upgrade") is None


def test_pipelined_requests_are_served_in_order(alice, upstream, key):
    upstream.default = lambda request, wire_: (time.sleep(0.2 if request.target == "/1" else 0),
                                               wire_.answer(200, {}, request.target))
    requests = [wire("POST", f"/{i}", {**AUTH, "Idempotency-Key": f"{key}-{i}"}, b"x") if i % 2 else wire("GET", f"/{i}", AUTH)
                for i in range(1, 7)]
    with alice.connect() as connection:
        connection.send(b"".join(requests))
        assert [connection.read_answer().body for _ in requests] == [b"/%d" % i for i in range(1, 7)]


def test_a_pipelined_retry_is_a_replay(alice, upstream, key):
    request = wire("POST", "/charges", {**AUTH, "Idempotency-Key": key}, b"x")
    with alice.connect() as connection:
        connection.send(request * 3)
        got = [connection.read_answer() for _ in range(3)]
    assert [a.outcome for a in got] == ["completed", "replayed", "replayed"]
    assert len({a.body for a in got}) == 1 and len(upstream.seen) == 1


def test_one_connection_serves_many_requests(alice, upstream, key):
    with alice.connect() as connection:
        for i in range(50):
            connection.send(wire("POST", "/charges", {**AUTH, "Idempotency-Key": f"{key}-{i}"}, b"x"))
            assert connection.read_answer().status == 201


def test_connection_close_is_honoured(alice, upstream):
    with alice.connect() as connection:
        connection.send(wire("GET", "/x", {**AUTH, "Connection": "close"}))
        answer = connection.read_answer()
        assert answer.header("Connection") == "close"
        assert connection.is_closed()


def test_head_has_no_body_and_keeps_the_length(alice, upstream):
    upstream.plan(sends(b"HTTP/1.1 200 OK\r\nContent-Length: 1234\r\n\r\n"))
    with alice.connect() as connection:
        connection.send(wire("HEAD", "/x", AUTH))
        answer = connection.read_answer("HEAD")
        assert answer.status == 200 and answer.header("Content-Length") == "1234"
        connection.send(wire("GET", "/y", AUTH))
        assert connection.read_answer().status == 201


def test_head_invents_no_length_where_the_upstream_says_none(alice, upstream):
    upstream.plan(sends(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"))
    with alice.connect() as connection:
        connection.send(wire("HEAD", "/x", AUTH))
        answer = connection.read_answer("HEAD")
        assert answer.status == 200 and answer.header("Content-Length") is None
        connection.send(wire("GET", "/y", AUTH))
        assert connection.read_answer().status == 201


@pytest.mark.parametrize("broken", [cuts, ends])
def test_an_unkeyed_write_that_is_lost_is_502_and_never_sent_again(alice, upstream, broken):
    upstream.plan(broken)
    answer = alice.post()
    assert answer.status == 502
    assert len(upstream.seen) == 1


def test_an_unkeyed_answer_that_breaks_off_breaks_off_for_the_client_too(alice, upstream):
    upstream.plan(sends(b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf", "cut"),
                  sends(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nhalf\r\n", "end"))
    for _ in range(2):
        with pytest.raises(Closed):
            answer = alice.get("/x")
            pytest.fail(f"half an answer looked whole: {answer}")


def test_a_client_that_hangs_up_in_the_middle_of_an_unkeyed_upload_reaches_nobody_as_whole(alice, upstream):
    with alice.connect() as connection:
        connection.send(wire("POST", "/upload", {**AUTH, "Content-Length": "100"}) + b"half")
        wait_until(lambda: upstream.heads)
        connection.reset()
    time.sleep(0.2)
    assert upstream.seen == []


def test_a_slow_client_is_patiently_served(alice, upstream, key):
    request = wire("POST", "/charges", {**AUTH, "Idempotency-Key": key}, b"0123456789")
    with alice.connect() as connection:
        connection.send_in_pieces([bytes([b]) for b in request], pause=0.001)
        assert connection.read_answer().status == 201
    assert upstream.seen[0].body == b"0123456789"


def test_connections_without_a_request_change_nothing(gateway, upstream):
    for _ in range(3):
        with Connection(gateway.address):
            pass
    assert gateway.client(AUTH).get("/x").status == 201
