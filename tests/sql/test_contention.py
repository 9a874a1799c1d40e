"""Many connections on few keys; and a service that takes its time before it commits."""

import random
import threading
import time

import psycopg2
import pytest
from support.concurrently import background
from transactions import Transaction

CONNECTIONS = 64
ARRAYS = """
select verdict, n from stet.execute(
  c_scope => array_fill('s'::bytea, array[%(count)s]), c_key => %(keys)s::text[]::bytea[], c_nonce => %(nonces)s::uuid[],
  c_fingerprint => array_fill('f'::bytea, array[%(count)s]), c_recipe => array_fill(''::text, array[%(count)s]),
  c_method => array_fill(''::text, array[%(count)s]), c_path => array_fill(''::bytea, array[%(count)s]),
  c_scope_rule => array_fill(''::text, array[%(count)s]), c_on_unknown => array_fill(0::smallint, array[%(count)s]),
  c_retention_ms => array_fill(86400000::bigint, array[%(count)s]), c_tombstone_ms => array_fill(1::bigint, array[%(count)s]),
  c_lease_ms => array_fill(30000::bigint, array[%(count)s]))
"""
ONE = """
select verdict from stet.execute(o_what => array[%s]::smallint[], o_scope => '{s}', o_key => array[%s]::text[]::bytea[],
  o_nonce => array[%s]::uuid[], o_attempt => array[%s], o_new_nonce => array[%s]::uuid[], o_lease_ms => '{30000}')
"""


def nonce():
    return f"{random.getrandbits(128):032x}"


def claim_all(gateway, keys):
    """{key: verdict}, {key: nonce} of one batch."""
    nonces = [nonce() for _ in keys]
    with gateway.connection.cursor() as cursor:
        cursor.execute(ARRAYS, {"count": len(keys), "keys": keys, "nonces": nonces})
        said = {keys[n - 1]: verdict for verdict, n in cursor.fetchall()}
    gateway.commit()
    assert len(said) == len(keys)
    return said, dict(zip(keys, nonces))


def complete_all(gateway, keys, nonces):
    verdicts = gateway.value(
        "select array_agg(verdict) from stet.execute(d_scope => array_fill('s'::bytea, array[%(count)s]), "
        "d_key => %(keys)s::text[]::bytea[], d_nonce => %(nonces)s::uuid[], d_attempt => array_fill(1, array[%(count)s]), "
        "d_status => array_fill(200, array[%(count)s]), d_headers => array_fill('[]'::jsonb, array[%(count)s]), "
        "d_raw_headers => array_fill(null::bytea, array[%(count)s]), d_body => array_fill('x'::bytea, array[%(count)s]), "
        "d_retention_ms => array_fill(null::bigint, array[%(count)s]))".replace("%(count)s", str(len(keys)))
        .replace("%(keys)s", "%s").replace("%(nonces)s", "%s"), keys, [nonces[key] for key in keys])
    gateway.commit()
    return verdicts


@pytest.fixture
def gateways(on, database):
    made = [Transaction(on, database) for _ in range(CONNECTIONS)]
    yield made
    for one in made:
        one.end()


# Gateways claim, complete, renew, release, take over and sweep, while services claim and complete in transactions of their own.
def test_64_connections_on_overlapping_keys_meet_no_deadlock_and_give_each_key_once(on, database, gateways):
    end = time.monotonic() + 6
    keys = [f"crowd-{i}" for i in range(200)]
    granted, errors, lock = {}, [], threading.Lock()
    counts = {"completed": 0, "released": 0}

    def grant(key):
        with lock:
            granted[key] = granted.get(key, 0) + 1

    def count(what, number=1):
        with lock:
            counts[what] += number

    def released(key):
        with lock:
            granted[key] -= 1

    def gateway(db, rng):
        while time.monotonic() < end:
            some = rng.sample(keys, 20)
            said, nonces = claim_all(db, some)
            mine = [key for key in some if said[key] == 1]
            for key in mine:
                grant(key)
            for key in mine[::5]:
                assert db.value(ONE, 2, key, nonces[key], 1, None) == 8
                verdict = db.value(ONE, 3, key, nonces[key], 1, None)
                if verdict == 8:  # before the commit, so that a next claim is counted after this
                    released(key)
                    count("released")
                db.commit()
                assert verdict == 8
                mine.remove(key)
            if mine:
                verdicts = complete_all(db, mine, nonces)
                assert set(verdicts) == {8}, verdicts
                count("completed", len(mine))
            if rng.random() < 0.1:
                db.row("select * from stet.sweep(100)")
                db.commit()

    def service(db, rng):
        while time.monotonic() < end:
            key = rng.choice(keys)
            verdict, token = db.claim(key, wait=rng.random() < 0.5)
            if verdict == "claimed":
                grant(key)
                db.complete(token)
                count("completed")
            time.sleep(rng.random() * 0.01)
            db.commit()

    def run(i):
        try:
            (service if i % 4 == 0 else gateway)(gateways[i], random.Random(i))
        except (psycopg2.Error, AssertionError) as error:
            errors.append(f"{type(error).__name__}: {error}")

    threads = [threading.Thread(target=run, args=(i,)) for i in range(CONNECTIONS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert not errors, errors[:3]
    assert on.value("select deadlocks from pg_stat_database where datname = %s", (database,)) == 0
    assert set(granted.values()) <= {0, 1}, "a key was granted twice"
    assert sum(granted.values()) == counts["completed"] == on.value("select count(*) from stet.operations", database=database)
    assert counts["completed"] > len(keys) / 2 and counts["released"] > 0, counts


# An upstream between stet.complete and COMMIT.
def test_a_service_that_holds_its_record_stalls_no_other_key_and_loses_no_lease(on, database, begin, key):
    gateway = begin()
    held, others = f"{key}-held", [f"{key}-{i}" for i in range(63)]
    said, nonces = claim_all(gateway, [held, *others])
    assert set(said.values()) == {1}
    token = f"v1.1.{nonces[held]}.73.{held.encode().hex()}"
    upstream = begin()
    upstream.complete(token)
    end = time.monotonic() + 10
    while time.monotonic() < end:
        started = time.monotonic()
        assert gateway.value(ONE, 2, held, nonces[held], 1, None) == 8, "the lease cannot be renewed"
        gateway.commit()
        more = [f"{key}-{random.random()}" for _ in range(63)]
        said, new = claim_all(gateway, [held, *more])
        assert said.pop(held) == 3 and set(said.values()) == {1}
        assert sorted(complete_all(gateway, [held, *more], {**new, held: nonces[held]})) == [8] * 63 + [10]
        for what in (3, 4, 5, 6, 7):
            assert gateway.value(ONE, what, held, nonces[held], 1, None) == 10
            gateway.commit()
        gateway.row("select * from stet.sweep(1000)")
        gateway.commit()
        assert time.monotonic() - started < 5, "something waited"
        time.sleep(0.2)
    upstream.commit()
    assert complete_all(gateway, [held], nonces) == [9], "the upstream's answer stands"
    assert on.value("select body from stet.operations where key = %s", (held.encode(),), database).tobytes() == b"done"
    assert on.value("select count(*) from stet.leases where key = %s", (held.encode(),), database) == 0


def test_a_service_that_holds_its_claim_open_stalls_no_other_key(begin, key):
    service, gateway = begin(), begin()
    service.claim(f"{key}-open")
    others = [f"{key}-{i}" for i in range(63)]
    started = time.monotonic()
    said, _ = claim_all(gateway, [f"{key}-open", *others])
    assert said.pop(f"{key}-open") == 10 and set(said.values()) == {1}
    assert time.monotonic() - started < 10
    # A command on a claim that is not to be seen yet is no command on nothing.
    assert gateway.value(ONE, 3, f"{key}-open", nonce(), 1, None) == 10
    assert gateway.value(ONE, 2, f"{key}-open", nonce(), 1, None) == 10
    assert complete_all(gateway, [f"{key}-open"], {f"{key}-open": nonce()}) == [10]
    service.rollback()
    assert gateway.value(ONE, 3, f"{key}-open", nonce(), 1, None) == 9


def test_a_sweep_passes_over_what_another_one_holds(on, alone):
    first, second = Transaction(on, alone), Transaction(on, alone)
    first.row("create or replace function stet.clock() returns timestamptz language sql volatile return now() + "
              "coalesce(nullif(current_setting('test.ahead', true), ''), '0')::interval")
    keys = [f"k{i}" for i in range(30)]
    _, nonces = claim_all(first, keys)
    complete_all(first, keys, nonces)
    for one in (first, second):
        one.row("set test.ahead = '2 days'")
        one.commit()
    assert first.value("select expired from stet.sweep(10)") == 10
    sweeping = background(second.row, "select expired, more from stet.sweep(100)")
    assert sweeping.result() == (20, False)
    first.commit()
    second.commit()
    assert second.value("select expired from stet.sweep(100)") == 0
    assert on.value("select count(*) from stet.operations where state = 3", database=alone) == 30
    first.end()
    second.end()
