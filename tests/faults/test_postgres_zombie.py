"""A joining upstream that stands still at the wrong moment: whatever it does afterwards, there is one effect."""

import re
import signal
import threading
import time

import pytest
from faults import joining_upstream
from support import stores
from support.concurrently import background
from support.fault_proxy import FaultProxy
from support.postgres import PORT
from support.upstream import wait_until

ALICE = {"Authorization": "Bearer alice"}
JOINS = '[[route]]\nmatch = "POST /joined"\nupstream_joins = true\n'


@pytest.fixture
def ledger():
    """A database with the schema and the upstream's own tables: (server, name)."""
    on, name = stores.new_database()
    done = on.psql(joining_upstream.TABLES, name)
    assert done.returncode == 0, done.stderr
    yield on, name
    on.drop_database(name)


@pytest.fixture
def start_joining(ledger):
    on, name = ledger
    made = []

    def start():
        made.append(joining_upstream.Upstream(on.url(name)))
        return made[-1].start()

    yield start
    for one in made:
        one.end()


def effects(ledger, key):
    on, name = ledger
    return on.query("select attempt, upstream, body from effects where key = %s", (key,), name)


def post(gateway, key, do="", path="/joined", **more):
    return gateway.client({**ALICE, "X-Do": do}).post(path, key=key, **more)


def arrived(ledger, key, attempt=1):
    on, name = ledger
    return lambda: on.query("select 1 from arrivals where key = %s and attempt = %s", (key, attempt), name)


def at_work(ledger):
    """Whether an upstream is between BEGIN and COMMIT, and its last statement is done."""
    on, name = ledger
    return lambda: on.query("select 1 from pg_stat_activity where datname = %s and state = 'idle in transaction'", (name,))


@pytest.mark.parametrize("then", ["joined", "fenced"])
def test_a_zombie_commits_nothing(ledger, start_joining, start_gateway, key, then):
    on, name = ledger
    config = f'[defaults]\nlease = "1s"\n{JOINS}'
    if then == "fenced":
        # A route that does not join, whose upstream repeats safely: stet.fence keeps the zombie's rows out all the same.
        config = '[defaults]\nlease = "1s"\non_unknown = "retry"\nupstream_idempotent = true\n'
    paused, other = start_joining(), start_joining()
    first = start_gateway(config, upstream_url=paused.url, store=on.url(name))
    second = start_gateway(config, upstream_url=other.url, store=on.url(name))

    do = "before=4" + (" fence" if then == "fenced" else "")
    lost = background(post, first, key, do)
    wait_until(arrived(ledger, key))
    wait_until(at_work(ledger))
    paused.process.signal(signal.SIGSTOP)
    first.kill()
    with pytest.raises(Exception):
        lost.result()
    assert effects(ledger, key) == []

    do = "fence" if then == "fenced" else ""
    answers = []
    wait_until(lambda: answers.append(post(second, key, do)) or answers[-1].status == 201, 20, lambda: answers[-1])
    assert {a.status for a in answers[:-1]} <= {409} and answers[-1].outcome == "completed", answers
    paused.process.signal(signal.SIGCONT)
    paused.process.wait_for_line(lambda line: re.match(f"STET1 {key} attempt 1", line), 20)
    assert [(attempt, body) for attempt, _, body in effects(ledger, key)] == [(2, answers[-1].body.decode())]
    for _ in range(2):
        again = post(second, key)
        assert (again.status, again.body, again.outcome) == (201, answers[-1].body, "replayed")
    assert second.operations("?state=pending") == []


def test_a_zombie_that_committed_first_is_the_answer(ledger, start_joining, start_gateway, key):
    """Paused after its COMMIT: the second gateway finds the answer, and runs nothing."""
    on, name = ledger
    paused, other = start_joining(), start_joining()
    config = f'[defaults]\nlease = "1s"\n{JOINS}'
    first = start_gateway(config, upstream_url=paused.url, store=on.url(name))
    second = start_gateway(config, upstream_url=other.url, store=on.url(name))
    lost = background(post, first, key, "after=30")
    wait_until(lambda: effects(ledger, key))
    paused.process.signal(signal.SIGSTOP)
    first.kill()
    with pytest.raises(Exception):
        lost.result()
    found = post(second, key)
    assert (found.status, found.outcome) == (201, "replayed"), found
    assert [body for _, _, body in effects(ledger, key)] == [found.body.decode()]
    paused.process.signal(signal.SIGCONT)
    time.sleep(0.2)
    assert post(second, key).body == found.body and len(effects(ledger, key)) == 1


def test_a_record_held_for_ten_seconds_stalls_no_other(ledger, start_joining, start_gateway, key):
    """Between stet.complete and COMMIT its row is locked: nobody else waits, and its lease is renewed meanwhile."""
    on, name = ledger
    upstream = start_joining()
    config = f'[defaults]\nlease = "2s"\nresponse_timeout = "30s"\n{JOINS}'
    one, two = (start_gateway(config, upstream_url=upstream.url, store=on.url(name)) for _ in range(2))
    slow = background(post, one, key, "hold=12.5", timeout=40)
    wait_until(arrived(ledger, key))
    times, wrong = [], []
    end = time.monotonic() + 7  # the last request of it may take its time, and is over before the commit

    def load(number):
        made = 0
        while time.monotonic() < end:
            made += 1
            began = time.monotonic()
            for gateway in (one, two):
                answer = post(gateway, f"{key}-{number}-{made}")
                if answer.status != 201:
                    wrong.append(answer)
            times.append(time.monotonic() - began)
            time.sleep(0.02)

    threads = [threading.Thread(target=load, args=(n,)) for n in range(4)]
    for thread in threads:
        thread.start()
    while time.monotonic() < end:
        for gateway in (one, two):
            began = time.monotonic()
            held = post(gateway, key)
            assert held.status == 409 and held.problem == "in-progress", held
            assert time.monotonic() - began < 5, "waited behind the row's lock"
        time.sleep(0.3)
    for thread in threads:
        thread.join(10)
    assert not wrong, wrong[:3]
    times.sort()
    assert len(times) > 70 and times[-1] < 5, (len(times), times[-5:])
    answer = slow.result(30)
    assert (answer.status, answer.outcome) == (201, "completed"), answer
    assert [(attempt, body) for attempt, _, body in effects(ledger, key)] == [(1, answer.body.decode())]
    assert post(two, key).body == answer.body


# A copy of such a claim may arrive when the key has been freed, and make its token good again.
def test_an_upstream_gets_no_token_of_a_claim_whose_reply_was_lost(ledger, start_joining, start_gateway, key):
    on, name = ledger
    upstream = start_joining()
    proxy = FaultProxy(on.directory / f".s.PGSQL.{PORT}")
    try:
        gateway = start_gateway(f'[defaults]\nlease = "5s"\n[store_options]\npool = 1\n{JOINS}', upstream_url=upstream.url,
                                store=f"postgresql://postgres@127.0.0.1:{proxy.address[1]}/{name}")
        attempts = []
        for n in range(20):
            proxy.swallow_next = 1
            answer = post(gateway, f"{key}-{n}", timeout=20)
            assert (answer.status, answer.outcome) == (201, "completed"), answer
            ((attempt, _, body),) = effects(ledger, f"{key}-{n}")
            assert body.encode() == answer.body == post(gateway, f"{key}-{n}").body
            attempts.append(attempt)
        assert attempts.count(2) > 5, f"vacuous: it was the claim's reply too seldom: {attempts}"
    finally:
        proxy.close()


# Beside it the gateway's patience: as long as it takes; long enough for the upstream's commit; shorter than that.
@pytest.mark.parametrize("do, patience", [("lose", "20s"), ("after=60", "3s"), ("hold=1.5", "700ms"), ("fail", "20s"), ("refuse", "20s")])
def test_every_way_a_joining_upstream_can_fail_to_answer(ledger, start_joining, start_gateway, key, do, patience):
    on, name = ledger
    upstream = start_joining()
    gateway = start_gateway(f'[defaults]\nlease = "1s"\nresponse_timeout = "{patience}"\n{JOINS}', upstream_url=upstream.url,
                            store=on.url(name))
    first = post(gateway, key, do)
    assert first.problem != "outcome-unknown", first
    committed = do in ("lose", "after=60", "hold=1.5")
    if do in ("fail", "refuse"):
        assert (first.status, first.outcome) == ({"fail": 500, "refuse": 429}[do], "not-executed"), first
    if do in ("lose", "after=60"):
        assert (first.status, first.outcome) == (201, "completed"), first
    answers = [first]
    wait_until(lambda: answers.append(post(gateway, key)) or answers[-1].status == 201, 20, lambda: answers)
    assert len(effects(ledger, key)) == 1 and effects(ledger, key)[0][2].encode() == answers[-1].body, answers
    if committed:
        assert effects(ledger, key)[0][0] == 1 and answers[-1].outcome in ("replayed", "completed"), answers
    assert post(gateway, key).body == answers[-1].body
