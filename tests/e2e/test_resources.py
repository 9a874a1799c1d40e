"""What is taken is given back: descriptors, buffered bodies, waiters' places, memory; whatever became of the request."""

import os
import time

import pytest
from support.concurrently import background
from support.http_client import Closed, Connection, wire
from support.processes import is_sanitized
from support.stores import about_one_process, about_sqlite
from support.upstream import answers, cuts, sends, wait_until

AUTH = {"Authorization": "Bearer alice"}


measures_memory = pytest.mark.skipif(is_sanitized(), reason="a sanitizer's memory is not the gateway's")


def descriptors(gateway):
    return len(os.listdir(f"/proc/{gateway.process.pid}/fd"))


def resident_kib(gateway):
    with open(f"/proc/{gateway.process.pid}/status") as status:
        return next(int(line.split()[1]) for line in status if line.startswith("VmRSS:"))


def keyed(key, body=b"x", **more):
    return wire("POST", "/charges", {**AUTH, "Idempotency-Key": key, **more}, body)


def everything_that_can_go_wrong(gateway, upstream, key):
    client = gateway.client(AUTH)
    upstream.plan(cuts, sends(b"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf", "end"), sends(b"nonsense\r\n\r\n", "end"))
    for i in range(3):
        client.post(key=f"{key}-u{i}")
    upstream.plan(cuts)
    client.post()
    client.post(key="a b")
    client.post(key=f"{key}-ok")
    client.post(key=f"{key}-ok")
    client.post(key=f"{key}-ok", json_body={"x": 1})
    for data in (keyed(f"{key}-h")[:-1], keyed(f"{key}-i"), b"GET / HTTP/1.1\r\nHo", b"nonsense\r\n\r\n", b"",
                 wire("POST", "/upload", {**AUTH, "Content-Length": "100"}) + b"half"):
        with Connection(gateway.address) as connection:
            connection.send(data)
            connection.reset()
    with Connection(gateway.address) as connection:
        connection.send(wire("GET", "/x", {**AUTH, "Connection": "Upgrade", "Upgrade": "websocket"}))
        connection.read_answer()


def test_descriptors_return_to_where_they_were(start_gateway, upstream, key):
    gateway = start_gateway('limits.keep_alive = "1s"\n')
    everything_that_can_go_wrong(gateway, upstream, key + "w")
    time.sleep(1.5)
    before = descriptors(gateway)
    for i in range(15):
        everything_that_can_go_wrong(gateway, upstream, f"{key}-{i}")
    wait_until(lambda: descriptors(gateway) <= before + 6, 30, lambda: f"{before} → {descriptors(gateway)} descriptors")


@measures_memory
def test_memory_does_not_grow_with_requests(start_gateway, upstream, key):
    gateway = start_gateway('sweep_every = "100ms"\n[defaults]\nretention = "1ms"\ntombstone = "0s"\n')
    body = b"b" * 20_000

    def load(rounds, name):
        for i in range(rounds):
            with Connection(gateway.address) as connection:
                for n in range(20):
                    connection.send(keyed(f"{key}-{name}-{i}-{n}", body))
                    assert connection.read_answer().status == 201

    load(20, "warm")
    before = resident_kib(gateway)
    load(50, "load")
    assert resident_kib(gateway) < before + 24 * 1024


def test_the_budget_for_bodies_is_given_back(start_gateway, upstream, key):
    gateway = start_gateway('limits.buffered_bodies = "300KiB"\n')
    client = gateway.client(AUTH)
    for i in range(40):
        assert client.post(key=f"{key}-{i}", body=b"x" * 100_000).status == 201
        with Connection(gateway.address) as connection:  # half a body, then gone
            connection.send(keyed(f"{key}-h{i}", b"x" * 100_000)[:-50_000])
            connection.reset()
        with Connection(gateway.address) as connection:  # a bad chunk after a good one
            connection.send(keyed(f"{key}-c{i}", b"c350\r\n" + b"x" * 50_000 + b"\r\nzz\r\n", **{"Transfer-Encoding": "chunked"}))
            assert connection.read_answer().status == 400
    wait_until(lambda: client.post(key=key + "-end", body=b"x" * 200_000).status == 201)


@about_one_process("a process's limit")
def test_places_of_waiters_who_left_are_given_back(start_gateway, upstream, key):
    gateway = start_gateway('limits.waiters = 3\nlimits.waiters_per_key = 3\n[defaults]\nin_progress = "wait"\n'
                            'wait = "60s"\n')
    client = gateway.client(AUTH)
    first, gate = upstream.hold(client.post, key=key, body=b"x")
    for end in (Connection.reset, Connection.close):
        waiters = [Connection(gateway.address) for _ in range(3)]
        for waiter in waiters:
            waiter.send(keyed(key))
        wait_until(lambda: gateway.metrics()["stet_waiters"] == 3)
        assert client.post(key=key, body=b"x").problem == "overloaded"
        for waiter in waiters:
            end(waiter)
        # Noticed within a few seconds, long before `wait` is over.
        wait_until(lambda: gateway.metrics()["stet_waiters"] == 0)
    waiters = [background(client.post, key=key, body=b"x") for _ in range(3)]
    wait_until(lambda: gateway.metrics()["stet_waiters"] == 3)
    gate.open()
    assert [w.result().status for w in waiters] == [201] * 3
    assert first.result().status == 201


def test_places_of_connections_are_given_back(start_gateway, upstream, key):
    gateway = start_gateway("limits.connections = 8\n")
    for i in range(60):
        with Connection(gateway.address) as connection:
            connection.send([b"nonsense\r\n\r\n", keyed(f"{key}-{i}"), b"GET /"][i % 3])
            if i % 3 < 2:
                try:
                    connection.read_answer()
                except Closed:
                    pass
    wait_until(lambda: gateway.client(AUTH).post(key=key).status == 201)


@measures_memory
def test_a_large_answer_is_streamed_and_not_held(start_gateway, upstream, key):
    gateway = start_gateway('[defaults]\nmax_response_body = "64KiB"\n')
    client = gateway.client(AUTH)
    client.post(key=key + "warm")
    before = resident_kib(gateway)
    upstream.plan(answers(200, {}, b"z" * 60_000_000))
    assert len(client.post(key=key, timeout=60).body) == 60_000_000
    upstream.plan(answers(200, {}, b"z" * 60_000_000))
    assert len(client.post(timeout=60).body) == 60_000_000
    assert resident_kib(gateway) < before + 20 * 1024


@measures_memory
def test_hundreds_of_idle_connections_cost_little(start_gateway, upstream):
    gateway = start_gateway()
    before = resident_kib(gateway)
    idle = []
    for _ in range(400):
        connection = Connection(gateway.address)
        connection.send(wire("GET", "/x", AUTH))
        idle.append(connection)
    for connection in idle:
        assert connection.read_answer().status == 201
    assert resident_kib(gateway) - before < 400 * 40
    for connection in idle:
        connection.close()


@about_sqlite("measures the file")
def test_the_store_does_not_grow_for_ever(start_gateway, upstream, key):
    # Pulsefy/Soter#944: the table grew for ever.
    gateway = start_gateway('sweep_every = "100ms"\n[defaults]\nretention = "1ms"\ntombstone = "0s"\n')
    upstream.default = answers(200, {}, b"a" * 20_000)

    def size_after(rounds, name):
        for i in range(rounds):
            with Connection(gateway.address) as connection:
                for n in range(50):
                    connection.send(keyed(f"{key}-{name}-{i}-{n}"))
                    assert connection.read_answer().status == 200
        wait_until(lambda: gateway.operations() == [], 60)
        return sum(f.stat().st_size for f in gateway.directory.glob("stet.db*"))

    first = size_after(10, "first")
    assert size_after(30, "more") < 2 * first + (10 << 20), "three times as many operations, and the room of the old ones is not used"
