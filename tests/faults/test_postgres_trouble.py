"""A PostgreSQL that is there and does not do its work: no connection left, locks, a full disk, a standby that does not come, a
gateway whose clock is wrong. Clear answers meanwhile, and recovery by itself."""

import collections
import contextlib
import email.utils
import random
import threading
import time

import psycopg2
import pytest
from faults.writing import Writers
from support import stores
from support.concurrently import background
from support.disk import fill, preloadable, preloading, small_disk
from support.postgres import Cluster
from support.processes import BINARY, Process
from support.upstream import Gate, wait_until

ALICE = {"Authorization": "Bearer alice"}
CONFIG = '[defaults]\nlease = "1s"\n'


@pytest.fixture
def database():
    on, name = stores.new_database()
    yield on, name
    on.drop_database(name)


def refused_clearly(answer):
    return answer.status == 503 and answer.problem == "store-unavailable" and answer.header("Retry-After")


def works_again(client, key, within=30):
    answers = []
    wait_until(lambda: answers.append(client.post(key=key)) or answers[-1].status == 201, within, lambda: answers[-3:])
    again = client.post(key=key)
    assert again.body == answers[-1].body and again.outcome == "replayed"


# ---- connections ----


def test_no_connection_left(start_gateway, upstream, key):
    with Cluster({"max_connections": "8", "superuser_reserved_connections": "1"}) as cluster:
        on, name = stores.new_database(cluster)
        cluster.execute("create role gateway superuser login")  # a superuser so that the schema is its own …
        cluster.execute("alter role gateway nosuperuser")
        for what in ("schema stet", "all tables in schema stet", "all functions in schema stet"):
            cluster.execute(f"grant all on {what} to gateway", database=name)
        url = on.url(name, user="gateway")
        gateway = start_gateway(CONFIG, store=url)
        client = gateway.client(ALICE)
        first = client.post(key=key)
        assert first.status == 201, first
        # The administrator comes first, as who is being refused takes up the last place for a moment; and stays, as whose connection
        # ends makes room for whoever comes next.
        with cluster.connect() as admin, admin.cursor() as sql, contextlib.ExitStack() as others:
            def take_them_all():
                with contextlib.suppress(psycopg2.OperationalError):
                    while True:
                        others.enter_context(cluster.connect(name, user="gateway"))

            # The pool's own connections are ended, and others are faster.
            without = 0
            while without < 20:
                take_them_all()
                sql.execute("select count(pg_terminate_backend(pid)) from pg_stat_activity where usename = 'gateway' and "
                            "application_name like 'stet%'")
                without = without + 1 if sql.fetchone() == (0,) else 0
                time.sleep(0.05)
            take_them_all()
            began = time.monotonic()
            refused = client.post(key=f"{key}-refused")
            assert refused_clearly(refused) and time.monotonic() - began < 10, refused
            assert not [r for r in upstream.seen if r.key == f"{key}-refused"]
            # A second gateway says what is wrong, and ends.
            other = Process([BINARY, "serve", "--upstream", upstream.url, "--listen", "127.0.0.1:0", "--admin", "127.0.0.1:0",
                             "--store", url])
            assert other.wait(20) == 3 and "connection" in other.output(), other.output()
        works_again(client, f"{key}-after")
        assert client.post(key=key).body == first.body


def test_every_connection_ended_by_an_administrator_again_and_again(database, start_gateway, upstream):
    on, name = database
    gateway = start_gateway(CONFIG, store=on.url(name))
    with Writers([gateway]) as writers:
        for _ in range(8):
            time.sleep(0.25)
            on.terminate_backends(name)
        time.sleep(0.5)
        wait_until(lambda: len(writers.acknowledged()) > 50)
    acknowledged = writers.acknowledged()
    last = writers.settle()
    done = collections.Counter(request.key for request in upstream.effects)
    assert len(acknowledged) > 50 and max(done.values()) == 1, (len(acknowledged), done.most_common(3))
    for key, answer in acknowledged.items():
        assert last[key].body == answer.body
    assert gateway.operations("?state=pending") == []


# ---- locks ----


@pytest.mark.parametrize("lock_timeout", ["0", "150ms"])
def test_a_table_that_somebody_has_locked(database, start_gateway, upstream, key, lock_timeout):
    on, name = database
    on.execute(f"alter database \"{name}\" set lock_timeout = '{lock_timeout}'")
    gateway = start_gateway(store=on.url(name))
    client = gateway.client(ALICE)
    first = client.post(key=key)
    with on.connect(name) as other, other.cursor() as sql:
        sql.execute("begin; lock table stet.operations in access exclusive mode")
        began = time.monotonic()
        refused = client.post(key=f"{key}-refused", timeout=20)
        assert refused_clearly(refused), refused
        assert time.monotonic() - began < 15
        assert not [r for r in upstream.seen if r.key == f"{key}-refused"]
        sql.execute("rollback")
    works_again(client, f"{key}-after")
    assert client.post(key=key).body == first.body
    # Whatever the server still did of what hung there was withdrawn: nothing was sent, and the key is as new.
    answers = []
    wait_until(lambda: answers.append(client.post(key=f"{key}-refused")) or answers[-1].status == 201, 30, lambda: answers[-3:])
    assert not [answer for answer in answers if answer.problem == "outcome-unknown"], answers
    assert len([r for r in upstream.seen if r.key == f"{key}-refused"]) == 1


def test_64_connections_on_overlapping_keys_never_deadlock(database, start_gateway, upstream):
    """Services that join with several keys a transaction, in any order they like, and two gateways beside them."""
    on, name = database
    gateways = [start_gateway(CONFIG, store=on.url(name)) for _ in range(2)]
    end = time.monotonic() + 5
    counts = collections.Counter()
    errors = []

    def service(number):
        dice = random.Random(number)
        with on.connect(name) as db, db.cursor() as sql:
            while time.monotonic() < end:
                # Sorted, as the documentation asks of a transaction with several keys.
                for key in sorted(dice.sample(range(12), dice.randint(1, 3))):
                    try:
                        sql.execute("begin; select verdict, token from stet.claim('s', %s, 'f', '5 s', %s)",
                                    (f"k{key}-{int(time.monotonic() * 2)}", dice.random() < 0.5))
                        verdict, token = sql.fetchone()
                        counts[verdict] += 1
                        if verdict == "claimed":
                            sql.execute("select stet.complete(%s, 200, '[]', 'x')", (token,))
                        sql.execute("commit" if dice.random() < 0.9 else "rollback")
                    except psycopg2.Error as error:
                        errors.append(str(error))
                        sql.execute("rollback")

    def client(number):
        dice = random.Random(number)
        while time.monotonic() < end:
            answer = dice.choice(gateways).client(ALICE).post(key=f"o{dice.randrange(12)}-{int(time.monotonic() * 2)}")
            counts[answer.status] += 1
            if answer.status not in (201, 409):
                errors.append(str(answer))

    threads = [threading.Thread(target=service, args=(n,)) for n in range(32)]
    threads += [threading.Thread(target=client, args=(n,)) for n in range(32)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    assert not errors, (len(errors), errors[:3])
    assert counts["claimed"] > 20 and counts["replay"] > 20 and counts[201] > 50, counts
    assert on.value("select deadlocks from pg_stat_database where datname = %s", (name,)) == 0
    done = collections.Counter(request.key for request in upstream.effects)
    assert max(done.values()) == 1, done.most_common(3)


# ---- disks ----


def test_a_full_disk(start_gateway, upstream, tmp_path, key):
    with small_disk("/tmp/stet-pg-disk-" + key, "110M", ",mode=755") as disk, \
            Cluster({"max_wal_size": "16MB", "min_wal_size": "2MB", "wal_recycle": "off", "wal_init_zero": "off"},
                    within=disk, initdb=["--wal-segsize=1"]) as cluster:
        on, name = stores.new_database(cluster)
        gateway = start_gateway(CONFIG, store=on.url(name))
        client = gateway.client(ALICE)
        first = client.post(key=key)
        assert first.status == 201
        filler = fill(disk)
        refused = []
        for n in range(400):
            answer = client.post(key=f"{key}-{n}", json_body={"amount": 1, "note": "x" * 4000}, timeout=20)
            if answer.status != 201:
                refused.append(answer)
                if len(refused) > 5:
                    break
        assert refused, "vacuous: the disk was never full"
        assert all(a.status in (503, 409, 504) for a in refused), refused
        filler.unlink()
        if not cluster.is_running():
            cluster.start()  # it could not write its log, and said so: what a supervisor does
        works_again(client, f"{key}-after", within=60)
        assert client.post(key=key).body == first.body
        done = collections.Counter(request.key for request in upstream.effects)
        assert max(done.values()) == 1


# ---- standbys ----


# A claim that may have been written is withdrawn for as long as its lease lasts: beyond it, it would be unknown, although nothing
# was sent.
PATIENT = '[defaults]\nlease = "20s"\n'


def die(cluster, standby):
    """Kills it, and waits for its last process: the one that receives may acknowledge one more commit."""
    standby.kill()
    wait_until(lambda: cluster.query("select 1 from pg_stat_replication") == [], 20)


def cancel_waiting(cluster, within=20):
    """Cancels what waits for a synchronous standby; how many."""
    wait_until(lambda: cluster.value("select count(*) from pg_stat_activity where wait_event = 'SyncRep'") > 0, within)
    return cluster.value("select count(pg_cancel_backend(pid)) from pg_stat_activity where wait_event = 'SyncRep'")


def test_a_cancelled_wait_for_a_standby_is_not_taken_for_success(start_gateway, make_upstream, key):
    """PostgreSQL says success with a WARNING: committed here, and not on the standby."""
    with Cluster() as cluster:
        on, name = stores.new_database(cluster)
        standby = cluster.standby()
        cluster.make_synchronous()
        upstream, gate = make_upstream(), Gate()
        gateway = start_gateway(PATIENT, upstream_url=upstream.url, store=on.url(name))
        client = gateway.client(ALICE)
        assert client.post(key=f"{key}-before").status == 201

        # A claim whose wait is cancelled is no claim: nothing is sent to the upstream.
        die(cluster, standby)
        call = background(client.post, key=key, timeout=20)
        assert cancel_waiting(cluster) > 0
        answer = call.result(20)
        assert answer.status == 503 and answer.problem == "store-unavailable", answer
        assert not [r for r in upstream.seen if r.key == key]
        standby.start()
        works_again(client, key)
        assert len([r for r in upstream.effects if r.key == key]) == 1

        # A completion whose wait is cancelled is not acknowledged before the standby has it.
        other = f"{key}-complete"
        upstream.plan(gate)
        call = background(client.post, key=other, timeout=20)
        assert gate.entered.wait(20)
        die(cluster, standby)
        gate.open()
        assert cancel_waiting(cluster) > 0
        time.sleep(0.3)
        assert call.running(), call.result()
        standby.start()
        answer = call.result(20)
        assert answer.status == 201, answer
        assert standby.value("select count(*) from stet.operations where key = %s and state = 1", (other.encode(),), name) == 1
        assert client.post(key=other).body == answer.body
        assert len([r for r in upstream.effects if r.key == other]) == 1


def test_claims_wait_no_longer_than_their_time_for_a_standby(start_gateway, upstream, key):
    with Cluster() as cluster:
        on, name = stores.new_database(cluster)
        standby = cluster.standby()
        cluster.make_synchronous()
        gateway = start_gateway(PATIENT, store=on.url(name))
        client = gateway.client(ALICE)
        first = client.post(key=f"{key}-before")
        die(cluster, standby)
        began = time.monotonic()
        refused = client.post(key=key, timeout=20)
        assert refused.status == 503 and time.monotonic() - began < 15, refused
        assert not [r for r in upstream.seen if r.key == key]
        assert client.post(key=f"{key}-before").body == first.body  # a replay waits for nobody
        standby.start()
        works_again(client, key)
        assert len([r for r in upstream.effects if r.key == key]) == 1


# ---- clocks ----


@pytest.mark.parametrize("ahead", [600, -600])
def test_a_clock_ten_minutes_wrong_on_one_gateway_changes_nothing(database, start_gateway, make_upstream, tmp_path, key, ahead):
    on, name = database
    upstream = make_upstream()
    library = preloadable(tmp_path, "wrong_clock.c")
    config = '[defaults]\nlease = "3s"\nretention = "60s"\ntombstone = "60s"\nresponse_timeout = "20s"\n'
    wrong = start_gateway(config, upstream_url=upstream.url, store=on.url(name),
                          environment={**preloading(library), "STET_WRONG_CLOCK": str(ahead)})
    right = start_gateway(config, upstream_url=upstream.url, store=on.url(name))
    assert abs(float_time(wrong) - time.time() - ahead) < 60, "vacuous: its clock is right"
    one, two = right.client(ALICE), wrong.client(ALICE)

    # Each sees the other's answers, and neither sweeps them early.
    answers = {f"{key}-{n}": client.post(key=f"{key}-{n}") for n, client in enumerate([one, two])}
    for gateway in (wrong, right):
        assert gateway.admin("POST", "/api/sweep", json_body={}).status == 200
    for client in (one, two):
        for sent, answer in answers.items():
            again = client.post(key=sent)
            assert (again.outcome, again.body) == ("replayed", answer.body)

    # Neither takes over what the other works at, and its lease is renewed for as long as it takes.
    for n, (owner, other) in enumerate([(one, two), (two, one)]):
        held, gate = upstream.hold(owner.post, key=f"{key}-held{n}", timeout=20)
        end = time.monotonic() + 4  # longer than the lease
        while time.monotonic() < end:
            answer = other.post(key=f"{key}-held{n}")
            assert answer.problem == "in-progress" and 1 <= int(answer.header("Retry-After")) <= 4, answer
            time.sleep(0.25)
        gate.open()
        assert held.result().outcome == "completed"
        assert other.post(key=f"{key}-held{n}").outcome == "replayed"

    # And a lease that lapses is over for both at the same moment: the database's.
    lost, gate = upstream.hold(two.post, key=f"{key}-lost", timeout=20)
    killed = time.monotonic()
    wrong.kill()
    answers = []
    wait_until(lambda: answers.append(one.post(key=f"{key}-lost")) or answers[-1].problem == "outcome-unknown", 20, lambda: answers[-2:])
    assert 1 < time.monotonic() - killed < 20  # two thirds of the lease, at the least; the wrong clock is ten minutes off
    gate.open()
    with pytest.raises(Exception):
        lost.result()
    assert max(collections.Counter(request.key for request in upstream.effects).values()) == 1


def float_time(gateway):
    """What the process believes the time to be, from its answers' Date."""
    date = gateway.client(ALICE).get("/healthz-of-no-route").header("Date")
    return email.utils.parsedate_to_datetime(date).timestamp()
