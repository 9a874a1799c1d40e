"""Leases, renewals and the sweep, seen from outside (docs/protocol.md)."""

import time

from support.concurrently import background
from support.http_client import wire
from support.upstream import Gate, cuts, wait_until

AUTH = {"Authorization": "Bearer alice"}


def test_an_operation_that_runs_longer_than_its_lease_is_neither_stolen_nor_lost(start_gateway, upstream, key):
    # langwatch PR6511: takeover by age ran a slow create twice. actor-ts#984: one TTL for lock and record.
    gateway = start_gateway('[defaults]\nlease = "1s"\n')
    client = gateway.client(AUTH)
    first, gate = upstream.hold(client.post, key=key)
    end = time.monotonic() + 2.5
    while time.monotonic() < end:
        busy = client.post(key=key)
        assert busy.problem == "in-progress", busy
        # xavierjohn/Trellis PR695: a skewed clock gave Retry-After beyond the lease.
        assert int(busy.header("Retry-After")) == 1
        time.sleep(0.1)
    gate.open()
    assert first.result().status == 201
    assert client.post(key=key).outcome == "replayed"
    assert len(upstream.seen) == 1


def test_the_same_holds_where_an_unknown_operation_may_be_retried(start_gateway, upstream, key):
    gateway = start_gateway('[defaults]\nlease = "1s"\non_unknown = "retry"\nupstream_idempotent = true\n')
    client = gateway.client(AUTH)
    first, gate = upstream.hold(client.post, key=key)
    end = time.monotonic() + 2.5
    while time.monotonic() < end:
        assert client.post(key=key).problem == "in-progress"
        time.sleep(0.1)
    gate.open()
    assert first.result().status == 201
    assert len(upstream.seen) == 1


def test_an_abandoned_clients_operation_is_renewed_too(start_gateway, upstream, key):
    gateway = start_gateway('[defaults]\nlease = "1s"\n')
    gate = Gate()
    upstream.plan(gate)
    client = gateway.client(AUTH)
    with client.connect() as connection:
        connection.send(wire("POST", "/charges", {**AUTH, "Idempotency-Key": key}, b"x"))
        assert gate.entered.wait(20)
        connection.reset()
    time.sleep(2)
    assert client.post(key=key, body=b"x").problem == "in-progress"
    gate.open()
    wait_until(lambda: client.post(key=key, body=b"x").status == 201)
    assert len(upstream.seen) == 1


def test_a_crash_locks_no_key_for_longer_than_the_restart(start_gateway, upstream, key):
    # VilledeMontreal/express-idempotency#32: a crash left a key locked for three days.
    gateway = start_gateway('[defaults]\nlease = "1h"\n')
    upstream.plan(Gate())
    background(lambda: gateway.client(AUTH).post(key=key))
    upstream.wait_for(1)
    gateway.kill()
    gateway.restart()
    assert gateway.client(AUTH).post(key=key).problem == "outcome-unknown"


def test_claims_beside_a_sweep_get_true_answers(start_gateway, upstream, key):
    # margince#423: a sweep between insert and read gave a wrong 409. Pulsefy/Soter#944: one DELETE locked the table.
    gateway = start_gateway('sweep_every = "100ms"\n[defaults]\nretention = "200ms"\ntombstone = "0s"\n')
    client = gateway.client(AUTH)
    wrong, slowest = [], [0.0]
    begun = time.monotonic()

    def enough():
        """The sweep did end records: of the 20 names some ran again."""
        took = time.monotonic() - begun
        return took > 4 and len(upstream.effects) > 20 or took > 40

    def worker(number):
        n = 0
        while not enough():
            name = f"{key}-{number}-{n % 5}"
            n += 1
            began = time.monotonic()
            answer = client.post(key=name)
            slowest[0] = max(slowest[0], time.monotonic() - began)
            if answer.status != 201 or answer.outcome not in ("completed", "replayed"):
                wrong.append((name, answer))

    for call in [background(worker, n) for n in range(4)]:
        call.result(60)
    assert wrong == []
    assert slowest[0] < 5
    assert len(upstream.effects) > 20
    wait_until(lambda: gateway.operations() == [])


def test_retention_forever_is_never_swept(start_gateway, upstream, key):
    gateway = start_gateway('sweep_every = "100ms"\n[defaults]\nretention = "forever"\n')
    client = gateway.client(AUTH)
    first = client.post(key=key)
    assert first.header("Stet-Replayable-Until") is None
    time.sleep(0.5)
    assert client.post(key=key).outcome == "replayed"
    assert gateway.operations()[0]["expires_at"] is None


def test_pending_and_unknown_records_are_never_swept(start_gateway, upstream, key):
    gateway = start_gateway('sweep_every = "100ms"\n[defaults]\nretention = "100ms"\ntombstone = "0s"\n')
    client = gateway.client(AUTH)
    upstream.plan(cuts)
    client.post(key=key)
    first, gate = upstream.hold(client.post, key=key + "p")
    time.sleep(0.8)
    assert {o["state"] for o in gateway.operations()} == {"unknown", "pending"}
    gate.open()
    assert first.result().status == 201
    assert client.post(key=key).problem == "outcome-unknown"


def test_tombstones_and_answers_survive_a_kill_and_a_restart(start_gateway, upstream, key):
    config = 'sweep_every = "100ms"\n[[route]]\nmatch = "POST /short"\nretention = "100ms"\n'
    gateway = start_gateway(config)
    client = gateway.client(AUTH)
    for i in range(50):
        assert client.post("/short", key=f"{key}-s{i}").status == 201
        assert client.post("/long", key=f"{key}-l{i}").status == 201
    wait_until(lambda: all(o["state"] != "completed" for o in gateway.operations("?limit=1000") if o["path"] == "/short"))
    for end in (gateway.kill, gateway.stop):
        end()
        gateway.restart()
        client = gateway.client(AUTH)
        for i in range(50):
            assert client.post("/short", key=f"{key}-s{i}").problem == "key-expired"
            assert client.post("/long", key=f"{key}-l{i}").outcome == "replayed"
    assert len(upstream.seen) == 100
