"""PgBouncer in transaction mode between the gateways and PostgreSQL: each statement may meet another server connection."""

import collections
import signal
import time

import pytest
from faults.writing import Writers
from support.postgres import Cluster
from support.upstream import wait_until

ALICE = {"Authorization": "Bearer alice"}
# More connections than the pooler has to the server: a lock, a setting or a statement kept on one would be met by others.
CONFIG = '[store_options]\npool = 3\n[defaults]\nlease = "1s"\n'


@pytest.fixture
def pooler():
    with Cluster() as cluster:
        name = cluster.create_database()
        yield cluster, cluster.bouncer(pool=2), name


def once_each(upstream, writers, least):
    acknowledged = writers.acknowledged()
    last = writers.settle()
    done = collections.Counter(request.key for request in upstream.effects)
    assert len(acknowledged) > least and max(done.values()) == 1, (len(acknowledged), done.most_common(3))
    for key, answer in acknowledged.items():
        assert last[key].body == answer.body and done[key] == 1


def test_two_gateways_share_a_store_through_a_pooler(pooler, start_gateway, upstream, key):
    cluster, bouncer, name = pooler
    gateways = [start_gateway(CONFIG, store=bouncer.url(name)) for _ in range(2)]  # the first one makes the schema
    first = gateways[0].client(ALICE).post(key=key)
    assert first.status == 201, first
    again = gateways[1].client(ALICE).post(key=key)
    assert again.body == first.body and again.outcome == "replayed"
    with Writers(gateways) as writers:
        time.sleep(2)
        wait_until(lambda: len(writers.acknowledged()) > 50)
    once_each(upstream, writers, 50)
    for gateway in gateways:
        assert gateway.operations("?state=pending") == []
    # None stays behind; a sweep may hold one for a moment.
    wait_until(lambda: cluster.value("select count(*) from pg_locks where locktype = 'advisory'", database=name) == 0)


def test_a_pooler_that_dies_under_load_and_comes_back(pooler, start_gateway, upstream):
    _, bouncer, name = pooler
    gateways = [start_gateway(CONFIG, store=bouncer.url(name)) for _ in range(2)]
    with Writers(gateways) as writers:
        for how in (signal.SIGKILL, signal.SIGTERM, signal.SIGKILL):
            time.sleep(0.5)
            bouncer.stop(how)
            time.sleep(0.2)
            (bouncer.directory / ".s.PGSQL.5432").unlink(missing_ok=True)
            bouncer.start()
        back = len(writers.acknowledged())
        wait_until(lambda: len(writers.acknowledged()) > max(20, back + 5))
    wait_until(lambda: gateways[0].client(ALICE).post(key="after").status == 201)
    once_each(upstream, writers, 20)
