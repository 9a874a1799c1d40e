"""What an administrator may set for a role, a database or the server, and a gateway or a service then finds."""

import collections
import contextlib
import signal
import time

import pytest
from faults import joining_upstream
from faults.writing import Writers
from support import stores
from support.concurrently import background
from support.postgres import Cluster
from support.processes import BINARY, Process
from support.upstream import wait_until

ALICE = {"Authorization": "Bearer alice"}
CONFIG = '[defaults]\nlease = "1s"\n'
JOINS = '[[route]]\nmatch = "POST /joined"\nupstream_joins = true\n'
# Nothing reaches the disk for the sake of somebody else.
LAZY = {"wal_writer_delay": "10s", "wal_writer_flush_after": "0", "autovacuum": "off", "bgwriter_delay": "10s"}


def crash(cluster):
    cluster.stop(signal.SIGQUIT)
    cluster.start()


def test_an_answer_survives_a_crash_that_its_service_committed_without_waiting_for_the_disk(start_gateway, key):
    with Cluster(LAZY) as cluster:
        on, name = stores.new_database(cluster)
        assert on.psql(joining_upstream.TABLES, name).returncode == 0
        on.execute("create role service superuser login; alter role service set synchronous_commit = off")
        service = joining_upstream.Upstream(on.url(name, user="service")).start()
        try:
            gateway = start_gateway(CONFIG + JOINS, upstream_url=service.url, store=on.url(name))
            for n in range(3):
                answer = gateway.client(ALICE).post("/joined", key=f"{key}-{n}")
                assert (answer.status, answer.outcome) == (201, "completed"), answer
                crash(cluster)
                assert cluster.query("select body from effects where key = %s", (f"{key}-{n}",), name) == [(answer.body.decode(),)]
                other = start_gateway(CONFIG + JOINS, upstream_url=service.url, store=on.url(name))  # with nothing in memory
                again = other.client(ALICE).post("/joined", key=f"{key}-{n}")
                assert (again.body, again.outcome) == (answer.body, "replayed"), again
        finally:
            service.end()


def test_answers_survive_a_crash_after_the_server_was_told_not_to_wait_for_the_disk_any_more(start_gateway, upstream, key):
    with Cluster(LAZY) as cluster:
        on, name = stores.new_database(cluster)
        gateway = start_gateway(CONFIG, store=on.url(name))
        client = gateway.client(ALICE)
        assert client.post(key=f"{key}-before").status == 201
        cluster.set(synchronous_commit="off")  # reaches the connections that are open
        time.sleep(0.3)
        answers = {f"{key}-{n}": client.post(key=f"{key}-{n}") for n in range(5)}
        assert {a.status for a in answers.values()} == {201}, answers
        crash(cluster)
        for sent, answer in answers.items():
            kept = cluster.query("select state, body from stet.operations where key = %s", (sent.encode(),), name)
            assert [(state, bytes(body)) for state, body in kept] == [(1, answer.body)], sent
        # Whoever connects now is told, and says so.
        wait_until(lambda: client.post(key=f"{key}-after").status == 503 and "synchronous_commit is off" in gateway.output())


@pytest.mark.parametrize("level", ["repeatable read", "serializable"])
def test_a_role_with_a_stricter_isolation_level_serves_as_well(start_gateway, upstream, level):
    on, name = stores.new_database()
    try:
        on.execute(f"alter database \"{name}\" set default_transaction_isolation = '{level}'")
        gateways = [start_gateway(CONFIG, store=on.url(name)) for _ in range(2)]
        with Writers(gateways) as writers:
            time.sleep(2)
            wait_until(lambda: len(writers.answers) > 30)
        answers = [a for both in writers.answers.values() for a in both]
        assert len(answers) > 50 and {a.status for a in answers} <= {201, 409}, collections.Counter(a.status for a in answers)
        done = collections.Counter(request.key for request in upstream.effects)
        assert max(done.values()) == 1
        for gateway in gateways:
            assert gateway.metrics().get('stet_store_errors_total{kind="not_written"}', 0) == 0
    finally:
        stop_all(on, name)


def stop_all(on, name):
    with contextlib.suppress(Exception):
        on.drop_database(name)


def test_behind_a_pooler_a_stricter_isolation_level_is_refused_with_what_to_do(upstream):
    with Cluster() as cluster:
        on, name = stores.new_database(cluster)
        on.execute(f"alter database \"{name}\" set default_transaction_isolation = 'serializable'")
        refused = Process([BINARY, "serve", "--upstream", upstream.url, "--listen", "127.0.0.1:0", "--admin", "127.0.0.1:0",
                           "--store", cluster.bouncer().url(name)])
        assert refused.wait(20) == 3 and "default_transaction_isolation" in refused.output(), refused.output()


def test_a_role_that_may_only_read_is_refused_with_what_to_do(upstream):
    on, name = stores.new_database()
    try:
        on.execute(f"alter database \"{name}\" set default_transaction_read_only = on")
        refused = Process([BINARY, "serve", "--upstream", upstream.url, "--listen", "127.0.0.1:0", "--admin", "127.0.0.1:0",
                           "--store", on.url(name)])
        assert refused.wait(20) == 3 and "read-only" in refused.output(), refused.output()
    finally:
        on.drop_database(name)


def test_a_service_that_prepares_its_transaction_joins_it_when_that_is_committed(start_gateway, key):
    """Two-phase commit: its record stays locked in between, and survives the server's end."""
    with Cluster({"max_prepared_transactions": "5"}) as cluster:
        on, name = stores.new_database(cluster)
        assert on.psql(joining_upstream.TABLES, name).returncode == 0
        service = joining_upstream.Upstream(on.url(name)).start()
        try:
            config = '[defaults]\nlease = "1s"\nresponse_timeout = "700ms"\n' + JOINS
            gateway = start_gateway(config, upstream_url=service.url, store=on.url(name))
            client = gateway.client({**ALICE, "X-Do": "prepare"})
            for n, end in enumerate(["commit", "rollback"]):
                first = background(client.post, "/joined", key=f"{key}-{n}", timeout=20)
                wait_until(lambda: cluster.value("select count(*) from pg_prepared_xacts") == 1)
                assert first.result().problem == "still-running"
                crash(cluster)
                wait_until(lambda: client.post("/joined", key=f"{key}-{n}").problem == "in-progress")
                cluster.execute(f"{end} prepared '{key}-{n}'", database=name)
                plain = gateway.client(ALICE)
                answers = []
                wait_until(lambda: answers.append(plain.post("/joined", key=f"{key}-{n}")) or answers[-1].status == 201, 30,
                           lambda: answers[-2:])
                effects = cluster.query("select attempt, body from effects where key = %s", (f"{key}-{n}",), name)
                assert [body.encode() for _, body in effects] == [answers[-1].body], (end, effects)
                assert plain.post("/joined", key=f"{key}-{n}").body == answers[-1].body
        finally:
            service.end()
