"""Connections cut after every so many bytes, on both sides of the gateway; upstreams that crash; a gateway that stands still."""

import signal
import time

import pytest
from support.concurrently import background
from support.fault_proxy import FaultProxy
from support.http_client import Closed, Connection, wire
from support.processes import run_stet
from support.upstream import Gate, wait_until

AUTH = {"Authorization": "Bearer alice"}


def request(key):
    return wire("POST", "/charges", {**AUTH, "Idempotency-Key": key, "Content-Type": "application/json"},
                b'{"amount": 4900, "currency": "eur"}')


# ---- between the client and the gateway ----


def test_a_client_cut_at_any_byte_of_its_request_gets_one_effect_from_its_retry(gateway, upstream, key):
    client = gateway.client(AUTH)
    whole = len(request(key))
    for at in [*range(0, whole, 7), whole - 1, whole]:
        name = f"{key}-{at:04d}"
        data = request(name)
        with Connection(gateway.address) as connection:
            connection.send(data[:at])
            connection.reset()
        wait_until(lambda: client.post(key=name).status == 201)
        assert client.post(key=name).outcome == "replayed"
        assert len(upstream.effects_of(name)) == 1, at


def test_a_client_cut_at_any_byte_of_its_answer_gets_the_same_answer_again(gateway, upstream, key):
    proxy = FaultProxy(gateway.address)
    try:
        for at in range(0, 400, 23):
            name = f"{key}-{at:04d}"
            proxy.cut_answer_after = at
            try:
                with Connection(proxy.address) as connection:
                    connection.send(request(name))
                    connection.read_answer()
            except (Closed, OSError):
                pass
            again = gateway.client(AUTH).post(key=name)
            assert again.status == 201 and again.outcome == "replayed", (at, again)
            assert len(upstream.effects_of(name)) == 1
    finally:
        proxy.close()


# ---- between the gateway and the upstream ----


@pytest.fixture
def behind_proxy(start_gateway, upstream):
    proxy = FaultProxy(("127.0.0.1", upstream.port))
    gateway = start_gateway(upstream_url=proxy.url)
    gateway.proxy = proxy
    yield gateway
    proxy.close()


def check_truth(client, upstream, key, first):
    """What the gateway said is true by the ledger, and a retry makes nothing worse."""
    time.sleep(0.02)
    effects = len(upstream.effects_of(key))
    assert effects <= 1
    if first.outcome == "not-executed":
        assert effects == 0, f"said not-executed, and it was executed: {first}"
        return
    if first.outcome == "completed":
        assert first.status == 201 and effects == 1
        assert client.post(key=key).body == first.body
        return
    assert first.problem == "outcome-unknown" and first.outcome == "unknown", first
    assert client.post(key=key).problem == "outcome-unknown"
    assert len([r for r in upstream.seen if r.key == key]) <= 1, "sent again after an unknown outcome"


def outcomes_of_cuts(gateway, upstream, key, direction, places):
    """One request after the other, each cut after so many bytes in this direction: what was said of them, all of it true."""
    client = gateway.client(AUTH)
    outcomes = set()
    for at in places:
        setattr(gateway.proxy, direction, at)
        gateway.proxy.cut_all()
        name = f"{key}-{at:04d}"
        first = client.post(key=name)
        setattr(gateway.proxy, direction, None)
        outcomes.add(first.outcome)
        check_truth(client, upstream, name, first)
    return outcomes


def test_a_request_cut_at_any_byte_on_its_way_to_the_upstream(behind_proxy, upstream, key):
    outcomes = outcomes_of_cuts(behind_proxy, upstream, key, "cut_request_after", [0, 1, *range(20, 700, 31)])
    assert outcomes >= {"unknown", "completed"}


def test_an_answer_cut_at_any_byte_on_its_way_from_the_upstream(behind_proxy, upstream, key):
    outcomes = outcomes_of_cuts(behind_proxy, upstream, key, "cut_answer_after", [0, 1, *range(10, 220, 13)])
    assert outcomes == {"unknown", "completed"}
    # Some may have met a pooled connection in the moment of its cut, and reached nobody.
    assert len(upstream.effects) > 10


def test_swallowed_answers_are_unknown_and_never_sent_twice(behind_proxy, upstream, key):
    behind_proxy.proxy.swallow_answers = True
    client = behind_proxy.client(AUTH)
    names = [f"{key}-{i}" for i in range(10)]
    for name in names:
        check_truth(client, upstream, name, client.post(key=name))
    assert all(len(upstream.effects_of(name)) == 1 for name in names)


def test_a_network_that_stands_still_is_still_running_and_then_heals(start_gateway, upstream, key):
    proxy = FaultProxy(("127.0.0.1", upstream.port))
    gateway = start_gateway('[defaults]\nresponse_timeout = "2s"\n', upstream_url=proxy.url)
    client = gateway.client(AUTH)
    assert client.post(key=key).status == 201  # so that a connection is there
    proxy.pause.clear()
    first = client.post(key=key + "b")
    assert first.problem == "still-running"
    proxy.pause.set()
    wait_until(lambda: client.post(key=key + "b").status == 201)
    assert len(upstream.effects_of(key + "b")) == 1
    proxy.close()


def test_two_lost_connections_in_a_row_and_a_pool_full_of_dead_ones(behind_proxy, upstream, key):
    client = behind_proxy.client(AUTH)
    calls = [background(client.post, key=f"{key}-{i}") for i in range(8)]
    assert {c.result().status for c in calls} == {201}
    behind_proxy.proxy.cut_all()  # every pooled connection is dead, and the gateway has not looked yet
    for i in range(8):
        answer = client.post(key=f"{key}-x{i}")
        assert answer.status == 201 or answer.outcome in ("unknown", "not-executed"), answer
        check_truth(client, upstream, f"{key}-x{i}", answer)


# ---- upstreams that crash ----


@pytest.mark.parametrize("fault, effects", [("crash", 0), ("crash-after", 1)])
def test_an_upstream_that_crashes_is_unknown_and_runs_nothing_twice_when_it_is_back(start_demo, start_gateway, key, fault, effects):
    demo = start_demo()
    gateway = start_gateway(upstream_url=demo.url)
    client = gateway.client(AUTH)
    first = client.post(key=key, headers={"X-Demo-Fault": fault})
    assert first.problem == "outcome-unknown" and first.outcome == "unknown"
    demo.wait()
    assert client.post(key=key + "b").problem == "upstream-unreachable"
    demo = start_demo(listen="127.0.0.1:%d" % demo.address[1])
    for _ in range(3):
        assert client.post(key=key).problem == "outcome-unknown"
    assert client.post(key=key + "b").status == 201
    assert len(demo.charges(key)) == effects and len(demo.charges(key + "b")) == 1


# ---- a gateway that stands still, and one that is killed at a chosen moment ----


def test_a_gateway_stopped_for_longer_than_its_lease_still_owns_its_operation(start_gateway, upstream, key):
    gateway = start_gateway('[defaults]\nlease = "1s"\n')
    client = gateway.client(AUTH)
    first, gate = upstream.hold(client.post, key=key)
    gateway.process.signal(signal.SIGSTOP)
    try:
        gate.open()
        time.sleep(2)
        other = run_stet("serve", "--upstream", upstream.url, "--listen", "127.0.0.1:0", "--admin", "127.0.0.1:0",
                         "--store", gateway.store)
        assert other.returncode == 3, "a second gateway opened the store of one that only stands still"
    finally:
        gateway.process.signal(signal.SIGCONT)
    first = first.result()
    assert first.status == 201 or first.problem == "outcome-unknown", first
    again = client.post(key=key)
    assert (again.status, again.body) == (first.status, first.body) if first.status == 201 else again.outcome == "unknown"
    assert len(upstream.seen) == 1


def test_a_retry_that_comes_while_it_stands_still_steals_nothing_from_the_same_process(start_gateway, upstream, key):
    """The lease is over when the process wakes up, and both the owner and a retry that may take over are its own."""
    gateway = start_gateway('[defaults]\nlease = "1s"\non_unknown = "retry"\nupstream_idempotent = true\n')
    client = gateway.client(AUTH)
    for round_ in range(5):
        name = f"{key}-{round_}"
        first, gate = upstream.hold(client.post, key=name)
        gateway.process.signal(signal.SIGSTOP)
        waiting = [Connection(gateway.address) for _ in range(4)]
        for connection in waiting:
            connection.send(request(name))
        time.sleep(1.3)
        gateway.process.signal(signal.SIGCONT)
        for connection in waiting:
            answer = connection.read_answer()
            assert answer.problem == "in-progress", answer
            connection.close()
        gate.open()
        assert first.result().status == 201
        assert client.post(key=name).outcome == "replayed"
        assert len([r for r in upstream.seen if r.key == name]) == 1


def test_killed_before_the_upstream_answers_and_asked_again_by_many(start_gateway, upstream, key):
    gateway = start_gateway()
    _, gate = upstream.hold(gateway.client(AUTH).post, key=key)
    gateway.kill()
    gateway.restart()
    gate.open()
    calls = [background(gateway.client(AUTH).post, key=key) for _ in range(10)]
    assert {c.result().problem for c in calls} == {"outcome-unknown"}
    assert len(upstream.seen) == 1


def test_killed_after_its_answer_was_stored_and_before_it_was_read(start_gateway, upstream, key):
    gateway = start_gateway()
    with Connection(gateway.address) as connection:
        connection.send(request(key))
        upstream.wait_for(1)
        connection.socket.settimeout(5)
        assert connection.socket.recv(1)  # the first byte is there: the answer is durable
        gateway.kill()
    gateway.restart()
    again = gateway.client(AUTH).post(key=key)
    assert again.status == 201 and again.outcome == "replayed"
    assert len(upstream.seen) == 1


def test_killed_again_and_again_while_one_request_kills_it(start_gateway, upstream, key):
    """A crash loop on one request: whatever the number of restarts, it is sent once."""
    gateway = start_gateway()
    for _ in range(5):
        upstream.plan(Gate())
        background(lambda: gateway.client(AUTH).post(key=key))
        upstream.wait_for(1)  # the first; the others find it unknown
        time.sleep(0.1)
        gateway.kill()
        gateway.restart()
    assert gateway.client(AUTH).post(key=key).problem == "outcome-unknown"
    assert len(upstream.seen) == 1


def test_a_kill_within_a_claim_never_leaves_more_than_one_effect(start_gateway, upstream, key):
    gateway = start_gateway()
    for i in range(25):
        name = f"{key}-{i}"
        calls = [background(lambda: gateway.client(AUTH).post(key=name)) for _ in range(3)]
        time.sleep(0.0005 * i)
        gateway.kill()
        for call in calls:
            try:
                call.result()
            except (Closed, OSError):
                pass
        gateway.restart()
        answer = gateway.client(AUTH).post(key=name)
        assert answer.status == 201 or answer.problem == "outcome-unknown", answer
        again = gateway.client(AUTH).post(key=name)
        assert again.outcome == ("replayed" if answer.status == 201 else "unknown")
        assert len(upstream.effects_of(name)) <= 1
        if answer.status == 201:
            assert len(upstream.effects_of(name)) == 1
