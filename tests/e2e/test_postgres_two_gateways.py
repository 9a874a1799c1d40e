"""Two gateways on one database, side by side: who waits at the one for what the other runs; and the token that services get."""

import time

import pytest
from support import stores
from support.concurrently import background
from support.http_client import Connection, wire
from support.upstream import Gate, created, refuses, wait_until

AUTH = {"Authorization": "Bearer alice"}
WAIT = '[defaults]\nin_progress = "wait"\nwait = "20s"\n'


@pytest.fixture
def database():
    on, name = stores.new_database()
    yield on.url(name)
    on.terminate_backends(name)
    on.drop_database(name)


@pytest.fixture
def pair(database, start_gateway):
    def start(config=WAIT):
        return [start_gateway(config, store=database) for _ in range(2)]

    return start


def claims(gateway, result="in_progress"):
    return gateway.metrics()[f'stet_store_commands_total{{command="claim",result="{result}"}}']


def test_a_waiter_gets_what_the_other_gateway_completes(pair, upstream, key):
    here, there = pair()
    first, gate = upstream.hold(here.client(AUTH).post, key=key)
    waiter = background(there.client(AUTH).post, key=key)
    time.sleep(0.3)
    assert waiter.running()
    opened = time.monotonic()
    gate.open()
    answer = waiter.result()
    assert time.monotonic() - opened < 12  # a poll is never further away than a second
    assert (answer.status, answer.body, answer.outcome) == (201, first.result().body, "replayed")
    assert len(upstream.seen) == 1


def test_a_crowd_at_the_other_gateway_asks_the_store_as_one(pair, upstream, key):
    here, there = pair()
    first, gate = upstream.hold(here.client(AUTH).post, key=key)
    waiters = [background(there.client(AUTH).post, key=key) for _ in range(30)]
    wait_until(lambda: there.metrics()["stet_waiters"] == 30)
    before, since = claims(there), time.monotonic()
    time.sleep(3)
    wait_until(lambda: claims(there) > before)
    # One with its pause doubled up to a second; each for itself would ask a hundred times.
    asked, took = claims(there) - before, time.monotonic() - since
    assert asked <= 5 + took, (asked, took)
    gate.open()
    body = first.result().body
    assert {(w.result().status, w.result().body, w.result().outcome) for w in waiters} == {(201, body, "replayed")}
    assert len(upstream.seen) == 1
    assert there.metrics()["stet_waiters"] == 0


def test_the_others_wait_on_when_who_asked_has_hung_up(pair, upstream, key):
    here, there = pair()
    client = here.client(AUTH)
    gate = Gate(created)
    upstream.plan(gate)
    first = background(client.post, key=key, body=b"x")
    assert gate.entered.wait(20)
    leaving = [Connection(there.address) for _ in range(3)]
    for waiter in leaving:
        waiter.send(wire("POST", "/charges", {**AUTH, "Idempotency-Key": key}, b"x"))
        time.sleep(0.1)
    staying = [background(there.client(AUTH).post, key=key, body=b"x") for _ in range(3)]
    wait_until(lambda: there.metrics()["stet_waiters"] == 6)
    for waiter in leaving:
        waiter.reset()
    wait_until(lambda: there.metrics()["stet_waiters"] == 3)
    before = claims(there)
    wait_until(lambda: claims(there) > before)  # somebody still asks
    gate.open()
    assert {w.result().outcome for w in staying} == {"replayed"}
    assert first.result().status == 201
    assert len(upstream.seen) == 1


def test_a_key_that_was_freed_is_run_by_one_of_the_crowd(pair, upstream, key):
    here, there = pair()
    first, gate = upstream.hold(here.client(AUTH).post, key=key, gate=Gate(refuses(429, {}, b"slow down")))
    waiters = [background(there.client(AUTH).post, key=key) for _ in range(10)]
    wait_until(lambda: there.metrics()["stet_waiters"] == 10)
    gate.open()
    assert first.result().status == 429
    outcomes = sorted(w.result().outcome for w in waiters)
    assert outcomes == ["completed"] + ["replayed"] * 9
    assert len(upstream.seen) == 2


def test_attempts_carry_their_token_where_services_can_join(database, start_gateway, upstream, key):
    gateway = start_gateway(store=database)
    client = gateway.client({**AUTH, "Stet-Token": "forged"})
    client.post(key=key)
    assert upstream.seen[0].header("Stet-Token").startswith("v1.1.")
    client.post()
    assert upstream.seen[1].header("Stet-Token") is None


def test_tokens_stay_here_where_answers_are_encrypted(database, start_gateway, upstream, key):
    gateway = start_gateway('store_options.encryption_key = "env:K"\n', store=database, environment={"K": "0" * 64})
    gateway.client(AUTH).post(key=key)
    assert upstream.seen[0].header("Stet-Token") is None


def test_a_joined_record_that_nobody_retries_is_freed(pair, upstream, key):
    here, there = pair('[[route]]\nmatch = "POST /charges"\nupstream_joins = true\nlease = "1s"\n')
    gate = Gate(created)
    upstream.plan(gate)
    first = background(here.client(AUTH).post, key=key)
    assert gate.entered.wait(20)
    listed = lambda: there.admin("GET", "/api/operations").json()["operations"]
    assert [(one["state"], one["maybe_executed"]) for one in listed()] == [("pending", False)]
    here.kill()
    with pytest.raises(Exception):
        first.result()
    wait_until(lambda: listed() == [], 60)  # the lease, and the pass after it
    gate.open()
    assert there.client(AUTH).post(key=key).outcome == "completed"
    assert len(upstream.seen) == 2
