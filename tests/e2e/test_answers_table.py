"""The table of answers in docs/http.md, in its order (large answers and expiry have files of their own).
A protected request is sent twice in each test."""

import socket
import threading
import time
from email.utils import parsedate_to_datetime

import pytest
from support.expectations import expect_problem
from support.http_client import wire
from support.processes import run_stet
from support.stores import about_one_process
from support.upstream import Gate, Wire, after, answers, created, cuts, drops, ends, refuses, sends, wait_until

AUTH = {"Authorization": "Bearer alice"}


# ---- first attempt, completed ----


def test_a_first_attempt_gets_the_upstreams_answer_and_a_retry_gets_it_again(alice, upstream, key):
    first = alice.post(key=key)
    assert first.status == 201
    assert first.outcome == "completed"
    assert first.header("Idempotent-Replayed") is None
    assert first.header("Location") == "/charges/ch_1"
    assert first.header("Stet-Operation")

    again = alice.post(key=key)
    assert again.status == 201
    assert again.outcome == "replayed"
    assert again.replayed
    assert again.body == first.body
    assert again.header("Location") == "/charges/ch_1"
    assert again.header("Stet-Operation") == first.header("Stet-Operation")
    assert len(upstream.effects) == 1


def test_keyed_answers_say_until_when_they_are_replayable(alice, upstream, key):
    for answer in (alice.post(key=key), alice.post(key=key)):
        until = parsedate_to_datetime(answer.header("Stet-Replayable-Until")).timestamp()
        assert abs(until - time.time() - 24 * 3600) < 120


def test_the_first_answer_is_durable_before_the_caller_sees_it(start_gateway, upstream, key):
    gateway = start_gateway()
    first = gateway.client(AUTH).post(key=key)
    gateway.kill()
    gateway.restart()
    again = gateway.client(AUTH).post(key=key)
    assert (again.status, again.body, again.outcome) == (201, first.body, "replayed")
    assert len(upstream.effects) == 1


def test_patch_is_protected_by_default_and_put_and_delete_are_not(alice, upstream, key):
    for _ in range(2):
        assert alice.send("PATCH", "/charges/1", key=key, json_body={"a": 1}).status == 201
    assert len(upstream.effects) == 1
    for method in ("PUT", "DELETE"):
        for _ in range(2):
            answer = alice.send(method, "/charges/1", key=key, json_body={"a": 1})
            assert answer.status == 201 and answer.outcome is None
    assert len(upstream.effects) == 5


def test_get_head_and_options_are_never_keyed(alice, upstream, key):
    for method in ("GET", "HEAD", "OPTIONS"):
        for _ in range(2):
            answer = alice.send(method, "/charges", key=key)
            assert answer.status == 201 and answer.outcome is None
    assert len(upstream.seen) == 6


def test_half_a_request_claims_nothing(gateway, alice, upstream, key):
    body = b'{"amount":1,"currency":"eur"}'
    with alice.connect() as connection:
        connection.send(
            b"POST /charges HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer alice\r\nContent-Type: application/json\r\n"
            b"Idempotency-Key: " + key.encode() + b"\r\nContent-Length: %d\r\n\r\n" % len(body) + body[:-1]
        )
        time.sleep(0.2)
        assert gateway.operations() == []
        connection.reset()
    time.sleep(0.1)
    assert upstream.seen == [] and gateway.operations() == []
    answer = alice.post(key=key, body=body, headers={"Content-Type": "application/json"})
    assert answer.status == 201 and answer.outcome == "completed"


# ---- in progress ----


def test_a_retry_during_the_first_attempt_gets_409_with_retry_after(alice, upstream, key):
    first, gate = upstream.hold(alice.post, key=key)
    second = alice.post(key=key)
    document = expect_problem(second, "in-progress", 409, retryable=True, new_key_safe=False)
    assert second.outcome == "in-progress"
    assert 1 <= int(second.header("Retry-After")) <= 30
    assert document["retry_after"] >= 1
    gate.open()
    first = first.result()
    assert first.status == 201 and first.outcome == "completed"
    assert document["instance"].endswith(first.header("Stet-Operation"))
    assert alice.post(key=key).body == first.body
    assert len(upstream.seen) == 1


# ---- other fingerprint ----


def test_another_body_under_a_completed_key_is_422_and_tells_only_the_first_use(alice, upstream, key):
    alice.post("/charges", key=key, json_body={"amount": 777123, "currency": "eur"})
    other = alice.post("/charges", key=key, json_body={"amount": 2, "currency": "eur"})
    document = expect_problem(other, "key-reused", 422, retryable=False, new_key_safe=False)
    assert other.outcome == "completed"
    assert "POST" in document["detail"] and "/charges" in document["detail"]
    assert b"777123" not in other.body and b"ch_1" not in other.body
    assert len(upstream.seen) == 1


def test_another_body_under_a_pending_key_is_422(alice, upstream, key):
    first, gate = upstream.hold(alice.post, key=key)
    other = alice.post(key=key, json_body={"amount": 2, "currency": "eur"})
    expect_problem(other, "key-reused", 422, retryable=False, new_key_safe=False)
    assert other.outcome == "in-progress"
    gate.open()
    assert first.result().status == 201
    assert len(upstream.seen) == 1


def test_another_body_under_an_unknown_key_is_422(alice, upstream, key):
    upstream.plan(cuts)
    assert alice.post(key=key).problem == "outcome-unknown"
    other = alice.post(key=key, json_body={"amount": 2, "currency": "eur"})
    expect_problem(other, "key-reused", 422, retryable=False, new_key_safe=False)
    assert other.outcome == "unknown"
    assert len(upstream.seen) == 1


# ---- body too large ----


def test_a_keyed_body_over_the_limit_is_413_before_any_claim(start_gateway, upstream, key):
    gateway = start_gateway('[defaults]\nmax_request_body = "1KiB"\n')
    client = gateway.client(AUTH)
    for headers, body in (
        ({}, b"x" * 1025),
        ({"Transfer-Encoding": "chunked"}, b"401\r\n" + b"x" * 1025 + b"\r\n0\r\n\r\n"),
    ):
        answer = client.post(key=key, body=body, headers=headers)
        expect_problem(answer, "body-too-large", 413, retryable=False, new_key_safe=False)
        assert answer.outcome == "not-executed"
    assert upstream.seen == [] and gateway.operations() == []
    assert client.post(key=key, body=b"x" * 1024).status == 201


def test_an_unkeyed_body_has_no_limit(start_gateway, upstream):
    gateway = start_gateway('[defaults]\nmax_request_body = "1KiB"\n')
    body = b"x" * 3_000_000
    assert gateway.client(AUTH).post(body=body).status == 201
    assert upstream.seen[0].body == body


# ---- nothing was sent ----


def test_an_upstream_that_refuses_connections_is_502_and_frees_the_key(start_gateway, closed_port, key):
    gateway = start_gateway(upstream_url=f"http://127.0.0.1:{closed_port}")
    client = gateway.client(AUTH)
    for _ in range(2):
        answer = client.post(key=key)
        expect_problem(answer, "upstream-unreachable", 502, retryable=True, new_key_safe=True)
        assert answer.outcome == "not-executed"
    assert gateway.operations() == []


def test_the_same_request_runs_once_the_upstream_is_back(start_gateway, make_upstream, key):
    server = make_upstream()
    gateway = start_gateway(upstream_url=server.url)
    server.stop()
    assert gateway.client(AUTH).post(key=key).problem == "upstream-unreachable"
    server.start()
    answer = gateway.client(AUTH).post(key=key)
    assert answer.status == 201 and answer.outcome == "completed"
    assert len(server.effects) == 1


def test_after_an_unknown_attempt_an_unreachable_upstream_stays_unknown(start_gateway, make_upstream, key):
    server = make_upstream()
    gateway = start_gateway('[defaults]\non_unknown = "retry"\nupstream_idempotent = true\n', upstream_url=server.url)
    server.plan(cuts)
    assert gateway.client(AUTH).post(key=key).problem == "outcome-unknown"
    server.stop()
    answer = gateway.client(AUTH).post(key=key)
    expect_problem(answer, "upstream-unreachable", 502, retryable=True, new_key_safe=False)
    assert answer.outcome == "unknown"


# ---- the upstream says that nothing happened ----


@pytest.mark.parametrize("status", [401, 403, 407, 425, 429])
def test_statuses_of_requests_that_did_not_run_free_the_key(alice, upstream, key, status):
    upstream.plan(refuses(status, {"Retry-After": "7"}, b"no"))
    first = alice.post(key=key)
    assert (first.status, first.body, first.outcome) == (status, b"no", "not-executed")
    assert first.header("Retry-After") == "7"
    again = alice.post(key=key)
    assert again.status == 201 and again.outcome == "completed" and not again.replayed
    assert len(upstream.effects) == 1


@pytest.mark.parametrize("status", [200, 400, 409, 500, 502, 503])
def test_stet_not_executed_frees_the_key_on_any_status(alice, upstream, key, status):
    upstream.plan(refuses(status, {"Stet-Not-Executed": "1"}, b"not now"))
    first = alice.post(key=key)
    assert (first.status, first.body, first.outcome) == (status, b"not now", "not-executed")
    assert first.header("Stet-Not-Executed") is None
    again = alice.post(key=key)
    assert again.status == 201 and again.outcome == "completed"
    assert len(upstream.effects) == 1


def test_stet_not_executed_with_another_value_promises_nothing(alice, upstream, key):
    upstream.plan(answers(500, {"Stet-Not-Executed": "0"}, b"oops"))
    assert alice.post(key=key).outcome == "completed"
    again = alice.post(key=key)
    assert (again.status, again.body, again.outcome) == (500, b"oops", "replayed")
    assert len(upstream.seen) == 1


# ---- still running ----


def test_a_slow_upstream_is_504_and_its_late_answer_is_kept(start_gateway, upstream, key):
    gateway = start_gateway('[defaults]\nresponse_timeout = "300ms"\n')
    client = gateway.client(AUTH)
    gate = Gate()
    upstream.plan(gate)
    first = client.post(key=key)
    expect_problem(first, "still-running", 504, retryable=True, new_key_safe=False)
    assert first.outcome == "in-progress"
    assert int(first.header("Retry-After")) >= 1
    second = client.post(key=key)
    assert second.outcome == "in-progress" and second.status in (409, 504)
    gate.open()
    wait_until(lambda: client.post(key=key).status == 201)
    late = client.post(key=key)
    assert late.outcome == "replayed" and late.json()["id"] == "ch_1"
    assert len(upstream.seen) == 1


def test_after_completion_timeout_the_outcome_is_unknown_and_the_upstream_connection_is_closed(start_gateway, upstream, key):
    # The second far behind the first: who comes late to both says the second at once.
    gateway = start_gateway('[defaults]\nresponse_timeout = "200ms"\ncompletion_timeout = "2s"\n')
    client = gateway.client(AUTH)
    hung_up = []

    def stalls(request, wire):
        wire.upstream.executed(request)
        hung_up.append(wire.peer_hung_up(15))
        wire.end()

    upstream.plan(stalls)
    assert client.post(key=key).problem == "still-running"
    wait_until(lambda: hung_up == [True])
    wait_until(lambda: client.post(key=key).problem == "outcome-unknown")
    answer = client.post(key=key)
    expect_problem(answer, "outcome-unknown", 502, retryable=False, new_key_safe=False)
    assert answer.outcome == "unknown"
    assert len(upstream.seen) == 1


def test_a_completion_timeout_below_the_response_timeout_is_no_excuse_to_answer_early(start_gateway, upstream, key):
    gateway = start_gateway('[defaults]\nresponse_timeout = "5s"\ncompletion_timeout = "5s"\n')
    upstream.plan(after(0.7))
    assert gateway.client(AUTH).post(key=key).status == 201


def test_a_completion_timeout_that_comes_first_is_an_unknown_outcome_at_once(start_gateway, upstream, key):
    gateway = start_gateway('[defaults]\nresponse_timeout = "20s"\ncompletion_timeout = "1s"\n')
    upstream.plan(Gate())
    began = time.monotonic()
    answer = gateway.client(AUTH).post(key=key)
    expect_problem(answer, "outcome-unknown", 502, retryable=False, new_key_safe=False)
    assert time.monotonic() - began < 15
    upstream.wait_for(1)  # whose thread was not waited for by that answer
    assert len(upstream.seen) == 1


# ---- outcome unknown ----

BROKEN = {
    "a reset before any byte": cuts,
    "an end before any byte": ends,
    "a reset although nothing was executed": drops,
    "half a status line": sends(b"HTTP/1.1 20", "end"),
    "half a head": sends(b"HTTP/1.1 201 Created\r\nContent-Le", "end"),
    "a body that is cut short": sends(b"HTTP/1.1 201 Created\r\nContent-Length: 10\r\n\r\n12345", "end"),
    "a body that is reset": sends(b"HTTP/1.1 201 Created\r\nContent-Length: 10\r\n\r\n12345", "cut"),
    "chunks without their end": sends(b"HTTP/1.1 201 X\r\nTransfer-Encoding: chunked\r\n\r\n5\r\n12345\r\n", "end"),
    "a bad chunk": sends(b"HTTP/1.1 201 X\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n12345\r\n0\r\n\r\n", "end"),
    "two lengths": sends(b"HTTP/1.1 201 X\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\nabc", "end"),
    "a length beside chunks": sends(
        b"HTTP/1.1 201 X\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", "end"),
    "no HTTP at all": sends(b"hello\r\n\r\n", "end"),
    "an answer until close that is reset": sends(b"HTTP/1.1 201 X\r\nConnection: close\r\n\r\npart", "cut"),
    "an upgrade nobody asked for": sends(b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n"),
}


@pytest.mark.parametrize("how", BROKEN)
def test_the_outcome_is_unknown_after(alice, upstream, key, how):
    upstream.plan(BROKEN[how])
    first = alice.post(key=key)
    document = expect_problem(first, "outcome-unknown", 502, retryable=False, new_key_safe=False)
    assert first.outcome == "unknown"
    assert "upstream_status" not in document or document["upstream_status"] in (101, 201)
    again = alice.post(key=key)
    expect_problem(again, "outcome-unknown", 502, retryable=False, new_key_safe=False)
    assert again.outcome == "unknown"
    assert len(upstream.seen) == 1


@pytest.mark.parametrize("status", [408, 502, 503, 504])
def test_what_a_proxy_says_that_lost_a_request_is_unknown(alice, upstream, key, status):
    upstream.plan(refuses(status, {}, b"gone"))
    first = alice.post(key=key)
    document = expect_problem(first, "outcome-unknown", 502, retryable=False, new_key_safe=False)
    assert document["upstream_status"] == status
    assert first.outcome == "unknown"
    assert alice.post(key=key).problem == "outcome-unknown"
    assert len(upstream.seen) == 1


def test_the_detail_of_an_unknown_outcome_says_what_would_avoid_it(alice, upstream, key):
    upstream.plan(refuses(503))
    assert "release" in alice.post(key=key).json()["detail"]


def test_a_killed_gateway_leaves_its_running_operation_unknown(start_gateway, upstream, key):
    gateway = start_gateway()
    _, gate = upstream.hold(gateway.client(AUTH).post, key=key)
    gateway.kill()
    gate.open()
    gateway.restart()
    answer = gateway.client(AUTH).post(key=key)
    expect_problem(answer, "outcome-unknown", 502, retryable=False, new_key_safe=False)
    assert answer.outcome == "unknown"
    assert len(upstream.seen) == 1


# ---- early answers of the upstream ----


def test_an_answer_before_the_upstream_has_read_the_request_is_an_answer(alice, upstream, key):
    def early(wire_, request_head):
        wire_.send(b"HTTP/1.1 413 Too Large\r\nContent-Length: 3\r\nConnection: close\r\n\r\nbig")

    restore = upstream_read_head_only(upstream, early)
    try:
        keyed = alice.post(key=key, body=b"x" * 900_000)
        assert keyed.status == 413 and keyed.body == b"big" or keyed.problem == "outcome-unknown", keyed
        again = alice.post(key=key, body=b"x" * 900_000)
        assert again.outcome == ("replayed" if keyed.status == 413 else "unknown")
        unkeyed = alice.post(body=b"x" * 900_000)
        assert unkeyed.status in (413, 502)
    finally:
        restore()


def upstream_read_head_only(server, answer):
    """Makes the upstream answer as soon as it has the head, and then read and ignore what still comes."""
    serve = server._serve

    def impatient(sock, number, _stopped):
        data = b""
        try:
            while b"\r\n\r\n" not in data:
                data += sock.recv(1000)
            answer(Wire(server, sock, number), data)
            sock.shutdown(socket.SHUT_WR)
            while sock.recv(65536):
                pass
        except OSError:
            pass
        finally:
            sock.close()

    server._serve = impatient
    return lambda: setattr(server, "_serve", serve)


# ---- framing ----


def test_ambiguous_framing_is_400_and_the_connection_is_closed(alice, upstream, key):
    with alice.connect() as connection:
        connection.send(b"POST /charges HTTP/1.1\r\nHost: x\r\nContent-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n")
        answer = connection.read_answer()
        expect_problem(answer, "bad-request", 400, retryable=False, new_key_safe=False)
        assert answer.outcome is None
        assert connection.is_closed()
    assert upstream.seen == []


# ---- overloaded ----


@about_one_process("a process's limit")
def test_more_connections_than_allowed_are_503_overloaded_or_wait_their_turn(start_gateway, upstream, key):
    gateway = start_gateway("limits.connections = 4\n")
    client = gateway.client(AUTH)
    idle = [client.connect() for _ in range(4)]
    wait_until(lambda: gateway.metrics()["stet_connections"] == 4)
    answer = client.post(key=key)
    assert answer.status == 503 and answer.problem == "overloaded", answer
    assert answer.outcome == "not-executed"
    assert upstream.seen == []
    for connection in idle:
        connection.close()
    wait_until(lambda: client.post(key=key).status == 201)


def test_bodies_over_the_budget_are_503_overloaded_before_any_claim(start_gateway, upstream, key):
    gateway = start_gateway('limits.buffered_bodies = "64KiB"\n')
    client = gateway.client(AUTH)
    answer = client.post(key=key, body=b"x" * 200_000)
    expect_problem(answer, "overloaded", 503, retryable=True, new_key_safe=False)
    assert answer.outcome == "not-executed"
    assert upstream.seen == [] and gateway.operations() == []
    assert client.post(key=key, body=b"x" * 1000).status == 201


# ---- hanging up ----


def test_a_client_that_hangs_up_loses_nothing(alice, upstream, key):
    # caura-ai/caura PR1629: the client left, saving was cancelled with it, the retry wrote again.
    gate = Gate()
    upstream.plan(gate)
    with alice.connect() as connection:
        connection.send(wire("POST", "/charges", {**AUTH, "Idempotency-Key": key}, b"{}"))
        assert gate.entered.wait(20)
        connection.reset()
    time.sleep(0.1)
    gate.open()
    wait_until(lambda: alice.post(key=key, body=b"{}").status == 201)
    assert alice.post(key=key, body=b"{}").outcome == "replayed"
    assert len(upstream.seen) == 1


def test_a_write_is_never_sent_again_on_a_broken_pooled_connection(alice, upstream, key):
    # istio#13851, cloudflare/pingora#979: proxies re-sent POSTs on broken connections.
    assert alice.post(key=key).status == 201
    upstream.plan(cuts)
    assert alice.post(key=key + "b").problem == "outcome-unknown"
    upstream.plan(cuts)
    assert alice.post().status == 502
    assert len(upstream.seen) == 3


def test_a_pooled_connection_that_the_upstream_closed_is_not_used(alice, upstream, key):
    ended = threading.Event()
    upstream.plan(lambda request, wire: (created(request, wire), wire.end(), ended.set()))
    assert alice.post(key=key).status == 201
    assert ended.wait(20)  # it has answered before
    time.sleep(0.2)
    assert alice.post(key=key + "b").status == 201
    assert len(upstream.effects) == 2


def test_serve_refuses_retry_without_upstream_idempotent(tmp_path, upstream):
    file = tmp_path / "stet.toml"
    file.write_text(f'upstream = "{upstream.url}"\n[defaults]\non_unknown = "retry"\n')
    done = run_stet("check-config", str(file))
    assert done.returncode == 2
    assert "upstream_idempotent" in done.stdout + done.stderr
