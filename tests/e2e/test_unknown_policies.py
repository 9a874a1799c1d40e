"""The three ways on from an unknown outcome: fail, retry, ask (docs/http.md, on_unknown)."""

import time

import pytest
from support.concurrently import all_at_once, background
from support.processes import run_stet
from support.upstream import Gate, answers, cuts, drops, refuses, wait_until

AUTH = {"Authorization": "Bearer alice"}
RETRY = '[defaults]\non_unknown = "retry"\nupstream_idempotent = true\n'


# ---- fail ----


def test_fail_runs_nothing_again_however_often_it_is_retried(alice, upstream, key):
    upstream.plan(cuts)
    answers_ = [alice.post(key=key) for _ in range(5)]
    assert [a.problem for a in answers_] == ["outcome-unknown"] * 5
    assert {a.json()["retryable"] for a in answers_} == {False}
    assert len(upstream.seen) == 1


def test_fail_survives_a_restart(start_gateway, upstream, key):
    gateway = start_gateway()
    upstream.plan(cuts)
    assert gateway.client(AUTH).post(key=key).problem == "outcome-unknown"
    gateway.kill()
    gateway.restart()
    assert gateway.client(AUTH).post(key=key).problem == "outcome-unknown"
    assert len(upstream.seen) == 1


def test_fail_settles_a_killed_gateways_operation_even_if_nobody_retries(start_gateway, upstream, key):
    gateway = start_gateway()
    _, gate = upstream.hold(gateway.client(AUTH).post, key=key)
    gateway.kill()
    gateway.restart()
    wait_until(lambda: [o["state"] for o in gateway.operations()] == ["unknown"], 60)
    gate.open()


# ---- retry ----


def test_retry_takes_over_with_the_next_attempt_and_the_same_key(start_gateway, upstream, key):
    gateway = start_gateway(RETRY)
    client = gateway.client(AUTH)
    upstream.plan(cuts)
    first = client.post(key=key)
    assert first.problem == "outcome-unknown" and first.outcome == "unknown"
    assert first.json()["retryable"] is True
    assert first.json()["new_key_safe"] is False
    second = client.post(key=key)
    assert second.status == 201 and second.outcome == "completed"
    assert client.post(key=key).outcome == "replayed"
    one, two = upstream.seen
    assert (one.header("Stet-Attempt"), two.header("Stet-Attempt")) == ("1", "2")
    assert one.header("Stet-Operation") == two.header("Stet-Operation") == second.header("Stet-Operation")
    assert one.key == two.key == key


def test_retry_takes_over_after_a_kill_without_waiting_for_the_lease(start_gateway, upstream, key):
    gateway = start_gateway(RETRY)
    _, gate = upstream.hold(gateway.client(AUTH).post, key=key)
    gateway.kill()
    gateway.restart()
    answer = gateway.client(AUTH).post(key=key)
    assert answer.status == 201 and answer.outcome == "completed"
    assert [r.header("Stet-Attempt") for r in upstream.seen] == ["1", "2"]
    gate.open()


def test_attempts_never_restart_while_the_record_lives(start_gateway, upstream, key):
    gateway = start_gateway(RETRY)
    client = gateway.client(AUTH)
    upstream.plan(cuts, cuts, refuses(503), refuses(429))
    for _ in range(4):
        client.post(key=key)
    gateway.kill()
    gateway.restart()
    assert gateway.client(AUTH).post(key=key).status == 201
    assert [r.header("Stet-Attempt") for r in upstream.seen] == ["1", "2", "3", "4", "5"]


@pytest.mark.parametrize("status", [400, 404, 409, 422])
def test_after_an_unknown_attempt_a_4xx_is_passed_on_as_unknown_and_not_recorded(start_gateway, upstream, key, status):
    gateway = start_gateway(RETRY)
    client = gateway.client(AUTH)
    upstream.plan(cuts, refuses(status, {}, b"key in use"))
    assert client.post(key=key).problem == "outcome-unknown"
    second = client.post(key=key)
    assert (second.status, second.body, second.outcome) == (status, b"key in use", "unknown")
    third = client.post(key=key)
    assert third.status == 201 and third.outcome == "completed"
    assert len(upstream.seen) == 3


def test_after_an_unknown_attempt_a_release_is_unknown(start_gateway, upstream, key):
    gateway = start_gateway(RETRY)
    client = gateway.client(AUTH)
    upstream.plan(cuts, refuses(429, {}, b"slow down"))
    client.post(key=key)
    second = client.post(key=key)
    assert (second.status, second.outcome) == (429, "unknown")
    assert client.post(key=key).outcome == "completed"


def test_a_first_attempts_4xx_is_recorded_under_retry_too(start_gateway, upstream, key):
    gateway = start_gateway(RETRY)
    client = gateway.client(AUTH)
    upstream.plan(answers(422, {}, b"no"))
    assert client.post(key=key).outcome == "completed"
    assert client.post(key=key).outcome == "replayed"
    assert len(upstream.seen) == 1


def test_of_many_retries_after_an_unknown_attempt_one_takes_over(start_gateway, upstream, key):
    gateway = start_gateway(RETRY)
    client = gateway.client(AUTH)
    upstream.plan(cuts)
    client.post(key=key)
    gate = Gate()
    upstream.plan(gate)
    calls = [background(client.post, key=key) for _ in range(8)]
    assert gate.entered.wait(20)
    wait_until(lambda: sum(not c.running() for c in calls) == 7)
    gate.open()
    results = [c.result() for c in calls]
    assert sorted(a.status for a in results) == [201] + [409] * 7
    assert len(upstream.seen) == 2


@pytest.mark.parametrize("config", ['on_unknown = "retry"', 'on_unknown = "retry"\nupstream_idempotent = false'])
def test_retry_without_an_idempotent_upstream_is_refused_at_start(tmp_path, upstream, config):
    file = tmp_path / "stet.toml"
    file.write_text(f'listen = "127.0.0.1:0"\nadmin = "127.0.0.1:0"\nupstream = "{upstream.url}"\n'
                    f'store = "sqlite:{tmp_path}/s.db"\n[defaults]\n{config}\n')
    done = run_stet("serve", "--config", str(file))
    assert done.returncode == 2 and "upstream_idempotent" in done.stderr
    assert "stet.toml:" in done.stderr


# ---- ask ----


class Reconciler:
    """What stands at reconcile.url. `verdict` is what it answers: (status, headers, body)."""

    def __init__(self, make_upstream):
        self.verdict = (404, [], b"")
        self.server = make_upstream(self._answer)
        self.url = self.server.url + "/reconcile"

    def _answer(self, request, wire):
        verdict = self.verdict(request) if callable(self.verdict) else self.verdict
        wire.answer(*verdict)

    @property
    def asked(self):
        return self.server.seen


@pytest.fixture
def reconciler(make_upstream):
    return Reconciler(make_upstream)


@pytest.fixture
def ask(start_gateway, reconciler):
    return start_gateway(f'[defaults]\non_unknown = "ask"\nreconcile.url = "{reconciler.url}"\n')


def test_ask_names_the_key_the_operation_and_the_attempt(ask, reconciler, upstream, key):
    upstream.plan(cuts)
    client = ask.client(AUTH)
    first = client.post(key=key)
    assert first.problem == "outcome-unknown" and first.json()["retryable"] is True
    client.post(key=key)
    wait_until(lambda: reconciler.asked)
    question = reconciler.asked[0]
    assert question.method == "GET" and question.path == "/reconcile"
    assert question.key == key
    assert question.header("Stet-Attempt") == "1"
    assert question.header("Stet-Operation") == first.header("Stet-Operation")


def test_ask_completes_with_the_original_answer(ask, reconciler, upstream, key):
    upstream.plan(cuts)
    client = ask.client(AUTH)
    reconciler.verdict = (200, [("Stet-Answer", "1"), ("Stet-Status", "201"), ("Location", "/charges/ch_9"),
                                ("Content-Type", "application/json")], b'{"id":"ch_9"}')
    client.post(key=key)
    wait_until(lambda: client.post(key=key).status == 201)
    answer = client.post(key=key)
    assert answer.body == b'{"id":"ch_9"}'
    assert answer.header("Location") == "/charges/ch_9"
    assert answer.header("Content-Type") == "application/json"
    assert answer.header("Stet-Status") is None and answer.header("Stet-Answer") is None
    assert answer.outcome == "replayed"
    assert len(upstream.seen) == 1


def test_the_promise_that_nothing_was_executed_lets_the_next_attempt_run(ask, reconciler, upstream, key):
    upstream.plan(drops)
    client = ask.client(AUTH)
    reconciler.verdict = lambda asked: (200, [("Stet-Not-Executed", asked.header("Stet-Attempt"))], b"")
    client.post(key=key)
    answer = client.post(key=key)
    assert answer.status == 201 and answer.outcome == "completed"
    assert [r.header("Stet-Attempt") for r in upstream.seen] == ["1", "2"]
    assert client.post(key=key).outcome == "replayed"


@pytest.mark.parametrize("verdict", [
    (404, [], b""),
    (200, [], b"{}"),
    (200, [("Stet-Not-Executed", "2")], b""),
    (200, [("Stet-Not-Executed", "0")], b""),
    (200, [("Stet-Not-Executed", "yes")], b""),
    (404, [("Stet-Answer", "1"), ("Stet-Status", "201")], b"x"),
    (200, [("Stet-Answer", "1"), ("Stet-Status", "99")], b"x"),
    (200, [("Stet-Answer", "0"), ("Stet-Status", "201")], b"x"),
    (500, [], b""),
    (204, [], b""),
])
def test_any_other_verdict_leaves_the_record_as_it_is(ask, reconciler, upstream, key, verdict):
    upstream.plan(cuts)
    client = ask.client(AUTH)
    reconciler.verdict = verdict
    client.post(key=key)
    for _ in range(2):
        answer = client.post(key=key)
        assert answer.problem == "outcome-unknown" and answer.outcome == "unknown", answer
        assert answer.json()["retryable"] is True
    assert len(upstream.seen) == 1
    assert reconciler.asked


def test_ask_asks_again_at_the_next_attempt(ask, reconciler, upstream, key):
    upstream.plan(drops)
    client = ask.client(AUTH)
    client.post(key=key)
    client.post(key=key)
    asked = len(reconciler.asked)
    client.post(key=key)
    assert len(reconciler.asked) > asked
    reconciler.verdict = lambda question: (200, [("Stet-Not-Executed", question.header("Stet-Attempt"))], b"")
    assert client.post(key=key).status == 201
    assert len(upstream.effects) == 1


def test_an_unreachable_reconciler_leaves_the_record_as_it_is(ask, reconciler, upstream, key):
    upstream.plan(cuts)
    client = ask.client(AUTH)
    reconciler.server.stop()
    client.post(key=key)
    answer = client.post(key=key)
    assert answer.problem == "outcome-unknown" and answer.json()["retryable"] is True
    assert len(upstream.seen) == 1


def test_the_reconciler_is_asked_even_if_nobody_retries(start_gateway, reconciler, upstream, key):
    gateway = start_gateway(f'[defaults]\non_unknown = "ask"\nlease = "1s"\nreconcile.url = "{reconciler.url}"\n')
    _, gate = upstream.hold(gateway.client(AUTH).post, key=key)
    gateway.kill()
    reconciler.verdict = (200, [("Stet-Answer", "1"), ("Stet-Status", "201")], b"found")
    gateway.restart()
    wait_until(lambda: [o["state"] for o in gateway.operations()] == ["completed"], 60)
    gate.open()
    answer = gateway.client(AUTH).post(key=key)
    assert (answer.status, answer.body, answer.outcome) == (201, b"found", "replayed")
    assert len(upstream.seen) == 1


def test_concurrent_askers_run_the_operation_once(ask, reconciler, upstream, key):
    upstream.plan(drops)
    client = ask.client(AUTH)
    reconciler.verdict = lambda asked: (200, [("Stet-Not-Executed", asked.header("Stet-Attempt"))], b"")
    client.post(key=key)
    results = all_at_once(6, lambda i: client.post(key=key))
    assert {a.status for a in results} <= {201, 409}
    assert len(upstream.seen) == 2
    time.sleep(0.1)
    assert client.post(key=key).outcome == "replayed"
