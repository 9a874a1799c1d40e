"""What a retry gets while the first attempt runs: conflict, wait, accept; and the status location."""

import time

from support.concurrently import all_at_once, background
from support.http_client import wire
from support.stores import about_one_process
from support.upstream import Gate, answers, cuts, refuses, wait_until

AUTH = {"Authorization": "Bearer alice"}
WAIT = '[defaults]\nin_progress = "wait"\n'
ACCEPT = '[defaults]\nin_progress = "accept"\n'
PREFIX = "/.well-known/stet/operations/"


def are_waiting(gateway, count):
    wait_until(lambda: gateway.metrics()["stet_waiters"] == count)


# ---- wait ----


def test_a_waiter_gets_the_firsts_answer(start_gateway, upstream, key):
    # stripity-stripe#564: a client's own quick retry met "key in use".
    gateway = start_gateway(WAIT)
    client = gateway.client(AUTH)
    first, gate = upstream.hold(client.post, key=key)
    waiters = [background(client.post, key=key) for _ in range(5)]
    are_waiting(gateway, 5)
    assert all(w.running() for w in waiters)
    gate.open()
    first = first.result()
    assert first.outcome == "completed"
    for waiter in waiters:
        answer = waiter.result()
        assert (answer.status, answer.body, answer.outcome) == (201, first.body, "replayed")
        assert answer.replayed
    assert len(upstream.seen) == 1


def test_a_waiter_is_told_at_once_when_the_first_ends(start_gateway, upstream, key):
    gateway = start_gateway(WAIT)
    client = gateway.client(AUTH)
    first, gate = upstream.hold(client.post, key=key)
    waiter = background(client.post, key=key)
    are_waiting(gateway, 1)
    opened = time.monotonic()
    gate.open()
    waiter.result()
    assert time.monotonic() - opened < 12  # the wait ends after thirty
    first.result()


@about_one_process("those at another gateway ask the store, and one of them claims")
def test_a_released_answer_goes_to_all_waiters_and_none_of_them_claims(start_gateway, upstream, key):
    gateway = start_gateway(WAIT)
    client = gateway.client(AUTH)
    first, gate = upstream.hold(client.post, key=key, gate=Gate(refuses(429, {}, b"slow down")))
    waiters = [background(client.post, key=key) for _ in range(4)]
    are_waiting(gateway, 4)
    gate.open()
    for call in [first, *waiters]:
        answer = call.result()
        assert (answer.status, answer.body, answer.outcome) == (429, b"slow down", "not-executed")
    assert len(upstream.seen) == 1
    assert client.post(key=key).status == 201


def test_waiters_learn_that_the_outcome_is_unknown(start_gateway, upstream, key):
    client = start_gateway(WAIT).client(AUTH)
    first, gate = upstream.hold(client.post, key=key, gate=Gate(cuts))
    waiter = background(client.post, key=key)
    time.sleep(0.2)
    gate.open()
    assert first.result().problem == "outcome-unknown"
    assert waiter.result().problem == "outcome-unknown"
    assert len(upstream.seen) == 1


def test_a_waiter_waits_no_longer_than_wait(start_gateway, upstream, key):
    client = start_gateway(WAIT + 'wait = "400ms"\n').client(AUTH)
    first, gate = upstream.hold(client.post, key=key)
    began = time.monotonic()
    answer = client.post(key=key)
    assert 0.3 < time.monotonic() - began < 10
    assert answer.status == 409 and answer.problem == "in-progress" and answer.header("Retry-After")
    gate.open()
    assert first.result().status == 201


def test_another_fingerprint_does_not_wait(start_gateway, upstream, key):
    client = start_gateway(WAIT).client(AUTH)
    first, gate = upstream.hold(client.post, key=key)
    assert client.post(key=key, json_body={"other": 1}).problem == "key-reused"
    gate.open()
    first.result()


@about_one_process("a process's limit")
def test_waiters_beyond_the_limit_of_a_key_are_turned_away(start_gateway, upstream, key):
    client = start_gateway("limits.waiters_per_key = 3\n" + WAIT).client(AUTH)
    first, gate = upstream.hold(client.post, key=key)
    waiters = [background(client.post, key=key) for _ in range(6)]
    wait_until(lambda: sum(not w.running() for w in waiters) == 3)
    gate.open()
    results = [w.result() for w in waiters]
    assert sorted(a.status for a in results) == [201, 201, 201, 503, 503, 503]
    for answer in results:
        if answer.status == 503:
            assert answer.problem == "overloaded" and answer.json()["retryable"] is True
            assert answer.outcome in ("in-progress", "not-executed")
            assert answer.json()["new_key_safe"] is False
    first.result()
    assert len(upstream.seen) == 1


def test_twenty_at_once_run_once(start_gateway, upstream, key):
    # idempot-js#182: SETEX overwrote the winner, both ran.
    # idempot-js#181, accept-io/midas#14: the unique violation became a 5xx, clients retried harder.
    client = start_gateway(WAIT).client(AUTH)
    results = all_at_once(20, lambda i: client.post(key=key))
    assert {a.status for a in results} == {201}
    assert len({a.body for a in results}) == 1
    assert sorted(a.outcome for a in results) == ["completed"] + ["replayed"] * 19
    assert len(upstream.seen) == 1


def test_twenty_at_once_under_conflict_run_once_and_the_others_get_409_or_the_replay(alice, upstream, key):
    results = all_at_once(20, lambda i: alice.post(key=key))
    assert {a.status for a in results} <= {201, 409}
    assert [a.outcome for a in results].count("completed") == 1
    assert len(upstream.seen) == 1


def test_a_waiter_that_hangs_up_disturbs_nobody(start_gateway, upstream, key):
    client = start_gateway(WAIT).client(AUTH)
    first, gate = upstream.hold(client.post, key=key)
    body = b'{"amount": 4900, "currency": "eur"}'
    with client.connect() as connection:
        connection.send(wire("POST", "/charges", {**AUTH, "Idempotency-Key": key, "Content-Type": "application/json"}, body))
        time.sleep(0.1)
        connection.reset()
    gate.open()
    assert first.result().status == 201
    assert client.post(key=key).outcome == "replayed"


# ---- accept ----


def test_accept_answers_202_with_the_status_location(start_gateway, upstream, key):
    client = start_gateway(ACCEPT).client(AUTH)
    first, gate = upstream.hold(client.post, key=key)
    second = client.post(key=key)
    assert second.status == 202 and second.outcome == "in-progress"
    location = second.header("Location")
    assert location == PREFIX + second.header("Stet-Operation")
    assert client.get(location).status == 202
    gate.open()
    first = first.result()
    assert first.status == 201
    found = client.get(location)
    assert (found.status, found.body, found.outcome) == (201, first.body, "replayed")
    assert found.header("Location") == first.header("Location")
    assert len(upstream.seen) == 1


def test_accept_answers_the_first_attempt_202_when_it_takes_too_long(start_gateway, upstream, key):
    client = start_gateway(ACCEPT + 'response_timeout = "300ms"\n').client(AUTH)
    gate = Gate()
    upstream.plan(gate)
    first = client.post(key=key)
    assert first.status == 202 and first.outcome == "in-progress"
    location = first.header("Location")
    assert client.get(location).status == 202
    gate.open()
    wait_until(lambda: client.get(location).status == 201)
    assert len(upstream.seen) == 1


# ---- the status location ----


def test_the_status_location_is_the_callers_own(alice, gateway, upstream, key):
    first = alice.post(key=key)
    location = PREFIX + first.header("Stet-Operation")
    found = alice.get(location)
    assert (found.status, found.body, found.outcome) == (201, first.body, "replayed")
    for stranger in ({}, {"Authorization": "Bearer mallory"}, {"X-Api-Key": "Bearer alice"}):
        answer = gateway.client(stranger).get(location)
        assert answer.status == 404
        assert b"ch_1" not in answer.body


def test_the_status_location_of_nothing_is_404(alice):
    for name in ("0" * 32, "f" * 32, "nothing", "..%2f", "0" * 31, "G" * 32):
        assert alice.get(PREFIX + name).status == 404, name


def test_the_status_location_of_a_released_operation_is_404(alice, upstream, key):
    upstream.plan(refuses(429))
    first = alice.post(key=key)
    assert alice.get(PREFIX + first.header("Stet-Operation")).status == 404


def test_the_status_location_of_an_unknown_operation_is_502_and_takes_over_nothing(start_gateway, upstream, key):
    client = start_gateway('[defaults]\non_unknown = "retry"\nupstream_idempotent = true\n').client(AUTH)
    upstream.plan(cuts)
    first = client.post(key=key)
    location = PREFIX + first.header("Stet-Operation")
    assert client.get(location).status in (202, 502)
    assert len(upstream.seen) == 1


def test_the_status_location_says_502_once_the_outcome_is_settled_as_unknown(alice, upstream, key):
    upstream.plan(cuts)
    first = alice.post(key=key)
    found = alice.get(PREFIX + first.header("Stet-Operation"))
    assert found.status == 502 and found.problem == "outcome-unknown"


def test_the_status_location_of_an_answer_not_kept_is_409(start_gateway, upstream, key):
    client = start_gateway('[defaults]\nmax_response_body = "1KiB"\n').client(AUTH)
    upstream.plan(answers(201, {}, b"x" * 5000))
    first = client.post(key=key)
    found = client.get(PREFIX + first.header("Stet-Operation"))
    assert found.status == 409 and found.problem == "answer-not-kept"


def test_the_status_location_of_an_expired_operation_is_410(start_gateway, upstream, key):
    gateway = start_gateway('sweep_every = "200ms"\n[defaults]\nretention = "200ms"\n')
    client = gateway.client(AUTH)
    first = client.post(key=key)
    location = PREFIX + first.header("Stet-Operation")
    wait_until(lambda: client.get(location).status == 410)


def test_the_status_location_answers_reads_only(alice, upstream, key):
    first = alice.post(key=key)
    answer = alice.send("POST", PREFIX + first.header("Stet-Operation"), body=b"")
    assert answer.status == 405, answer
    assert len(upstream.seen) == 1


def test_the_status_location_follows_the_records_own_scope_rule(start_gateway, upstream, key):
    gateway = start_gateway('[defaults]\nscope = ["header:X-Account"]\n')
    first = gateway.client({"X-Account": "a1"}).post(key=key)
    location = PREFIX + first.header("Stet-Operation")
    assert gateway.client({"X-Account": "a1"}).get(location).body == first.body
    for headers in ({"X-Account": "a2"}, {}, AUTH):
        answer = gateway.client(headers).get(location)
        assert answer.status in (400, 404) and b"ch_1" not in answer.body, answer
    # A reload changes the rule for new operations, not whose the old ones are.
    gateway.reload('[defaults]\nscope = ["none"]\n')
    assert gateway.client({"X-Account": "a1"}).get(location).body == first.body
    assert gateway.client({"X-Account": "a2"}).get(location).status in (400, 404)


def test_a_waiter_learns_that_the_answer_was_too_large(start_gateway, upstream, key):
    gateway = start_gateway('[defaults]\nmax_response_body = "1KiB"\nin_progress = "wait"\n')
    client = gateway.client(AUTH)
    first, gate = upstream.hold(client.post, key=key, gate=Gate(answers(201, {}, b"x" * 100_000)))
    waiter = background(client.post, key=key)
    are_waiting(gateway, 1)
    gate.open()
    assert len(first.result().body) == 100_000
    assert waiter.result().problem == "answer-not-kept"
    assert len(upstream.seen) == 1


def test_waiters_are_answered_in_a_drain(start_gateway, upstream, key):
    import signal

    gateway = start_gateway(WAIT)
    client = gateway.client(AUTH)
    first, gate = upstream.hold(client.post, key=key)
    waiter = background(client.post, key=key)
    are_waiting(gateway, 1)
    gateway.process.signal(signal.SIGTERM)
    time.sleep(0.2)
    gate.open()
    assert first.result().status == waiter.result().status == 201
    assert gateway.process.wait() == 0
