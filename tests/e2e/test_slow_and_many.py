"""Callers and upstreams who are slow on purpose, or come in crowds: what they hold has a bound and an end."""

import os
import socket
import time

from support.http_client import wire
from support.upstream import answers, wait_until

AUTH = {"Authorization": "Bearer alice"}


def test_an_idle_connection_keeps_its_limits_over_reloads(start_gateway, upstream):
    # Freed memory is overwritten, so that a limit read from a configuration that is gone is a wild one.
    config = '[limits]\nheader_timeout = "30s"\n'
    gateway = start_gateway(config, environment={"MALLOC_PERTURB_": "165"})
    gateway.reload(config)
    with gateway.client().connect() as connection:
        request = wire("GET", "/idle", AUTH)
        connection.send(request)
        assert connection.read_answer().status == 201
        gateway.reload(config)
        time.sleep(0.5)
        connection.send(request[:20])
        time.sleep(0.7)
        connection.send(request[20:])
        assert connection.read_answer().status == 201


def test_callers_beyond_the_limit_hold_a_bounded_number_of_descriptors(start_gateway, upstream):
    gateway = start_gateway("[limits]\nconnections = 2\n")
    descriptors = f"/proc/{gateway.process.pid}/fd"
    held = [gateway.client().connect() for _ in range(2)]
    time.sleep(0.2)
    crowd = [socket.create_connection(gateway.address) for _ in range(600)]
    time.sleep(0.5)
    assert len(os.listdir(descriptors)) < 400
    for connection in crowd + held:
        connection.close()
    wait_until(lambda: len(os.listdir(descriptors)) < 40)
    wait_until(lambda: gateway.client(AUTH).get("/after").status == 201)  # the last of those below forty may be the two that were let in


def test_the_rest_of_a_large_answer_is_not_waited_for_for_ever(start_gateway, upstream, key):
    gateway = start_gateway('[defaults]\nresponse_timeout = "2s"\nmax_response_body = "8KiB"\n')

    def stalls(request, wire):
        wire.upstream.executed(request)
        wire.send(b"HTTP/1.1 201 Created\r\nContent-Length: 20000\r\n\r\n" + b"a" * 9000)
        wire.peer_hung_up(30)

    upstream.plan(stalls)
    with gateway.client().connect() as connection:
        connection.send(wire("POST", "/charges", {**AUTH, "Idempotency-Key": key}, b"x"))
        assert connection.read_head()[0] == 201
        connection.read_exactly(9000)
        assert connection.is_closed()
    assert gateway.client(AUTH).post(key=key, body=b"x").problem == "answer-not-kept"


def test_replays_to_slow_readers_count_as_buffered(start_gateway, upstream, key):
    gateway = start_gateway('[limits]\nbuffered_bodies = "16MiB"\n[defaults]\nmax_response_body = "8MiB"\n')
    client = gateway.client(AUTH)
    upstream.plan(answers(201, [], b"z" * 6_000_000))
    assert client.post(key=key, body=b"").status == 201
    slow = []
    for _ in range(40):
        reader = socket.socket()
        reader.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 2048)
        reader.connect(gateway.address)
        reader.sendall(wire("POST", "/charges", {**AUTH, "Idempotency-Key": key}))
        slow.append(reader)
    wait_until(lambda: gateway.metrics()["stet_buffered_bytes"] > 16 << 20)
    time.sleep(0.5)
    assert gateway.metrics()["stet_buffered_bytes"] < 40 << 20
    for body in (b"", b"x"):
        refused = client.post(key=f"{key}-{len(body)}", body=body)
        assert (refused.status, refused.problem) == (503, "overloaded"), refused
    for reader in slow:
        reader.close()
    wait_until(lambda: client.post(key=f"{key}-later").status == 201)


def test_a_length_that_is_only_declared_takes_no_room(start_gateway, upstream, key):
    gateway = start_gateway('[limits]\nbuffered_bodies = "1MiB"\n')
    with gateway.client().connect() as idler:
        idler.send(wire("POST", "/charges", {**AUTH, "Idempotency-Key": f"{key}-idle", "Content-Length": "1000000"}))
        time.sleep(0.3)
        assert gateway.client(AUTH).post(key=key, body=b"x" * 100_000).status == 201
        full = gateway.client(AUTH).post(key=f"{key}-full", body=b"x" * 1_048_576)
        assert (full.status, full.problem) == (503, "overloaded"), full
