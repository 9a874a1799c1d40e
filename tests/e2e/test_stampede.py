"""Many at once: every write is sent several times in the same moment, over many connections, and runs once."""

import collections
import threading
import time

import pytest
from support.http_client import wire

AUTH = {"Authorization": "Bearer alice"}


@pytest.mark.parametrize("mode", ["conflict", "wait"])
def test_every_write_sent_four_times_in_one_moment_runs_once(start_gateway, upstream, key, mode):
    gateway = start_gateway(f'[defaults]\nin_progress = "{mode}"\n')
    client = gateway.client()
    barrier = threading.Barrier(4)
    got = collections.defaultdict(list)
    lock = threading.Lock()
    failures = []

    def worker():
        try:
            with client.connect() as connection:
                for i in range(250):
                    barrier.wait(20)
                    connection.send(wire("POST", "/charges", {**AUTH, "Idempotency-Key": f"{key}-{i}"}, b"x"))
                    answer = connection.read_answer()
                    with lock:
                        got[i].append(answer)
        except Exception as error:
            failures.append(error)
            barrier.abort()

    threads = [threading.Thread(target=worker) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []
    for i, answers in got.items():
        assert len(upstream.effects_of(f"{key}-{i}")) == 1, i
        outcomes = collections.Counter(a.outcome for a in answers)
        assert outcomes["completed"] == 1, answers
        assert len({a.body for a in answers if a.status == 201}) == 1
        if mode == "wait":
            assert {a.status for a in answers} == {201}
        else:
            assert {a.status for a in answers} <= {201, 409}


def test_one_pipelined_burst_of_the_same_write_runs_once(start_gateway, upstream, key):
    client = start_gateway().client()
    with client.connect() as connection:
        connection.send(wire("POST", "/charges", {**AUTH, "Idempotency-Key": key}, b"x") * 40)
        got = [connection.read_answer() for _ in range(40)]
    assert [a.outcome for a in got] == ["completed"] + ["replayed"] * 39
    assert len(upstream.seen) == 1


def test_a_hundred_connections_with_keys_of_their_own_all_succeed(start_gateway, upstream, key):
    client = start_gateway().client()
    connections = [client.connect(timeout=20) for _ in range(100)]
    began = time.monotonic()
    for round_ in range(5):
        for n, connection in enumerate(connections):
            connection.send(wire("POST", "/charges", {**AUTH, "Idempotency-Key": f"{key}-{round_}-{n}"}, b"x"))
        for connection in connections:
            assert connection.read_answer().outcome == "completed"
    assert time.monotonic() - began < 30
    for connection in connections:
        connection.close()
    assert len(upstream.effects) == len({r.key for r in upstream.effects}) == 500
