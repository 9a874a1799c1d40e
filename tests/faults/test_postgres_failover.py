"""The primary dies while clients write, and a standby takes its place. The gateways find it by themselves."""

import collections
import time

import pytest
from faults import joining_upstream
from faults.writing import Writers
from support import stores
from support.concurrently import background
from support.postgres import PORT, Cluster
from support.upstream import Gate, wait_until

CONFIG = '[defaults]\nlease = "1s"\nresponse_timeout = "2s"\ncompletion_timeout = "5s"\n'
# Whoever waits for a failover is answered when it is over, however long that takes.
PATIENT = '[defaults]\nlease = "1s"\nresponse_timeout = "60s"\ncompletion_timeout = "120s"\n'
JOINS = '[[route]]\nmatch = "POST /joined"\nupstream_joins = true\n'


@pytest.fixture
def pair():
    """A primary with a standby: (primary, standby, database, URL of both)."""
    with Cluster() as primary:
        on, database = stores.new_database(primary)
        assert on.psql(joining_upstream.TABLES, database).returncode == 0
        standby = primary.standby()
        both = f"host={primary.directory},{standby.directory}&port={PORT},{PORT}"
        url = f"postgresql://postgres@/{database}?{both}&target_session_attrs=read-write&connect_timeout=2"
        yield primary, standby, database, url


def effects_by_key(server, database):
    out = collections.defaultdict(list)
    for key, body in server.query("select key, body from effects", None, database):
        out[key].append(body.encode())
    return out


@pytest.mark.parametrize("route", ["/joined", "/charges"])
def test_no_acknowledged_answer_is_lost_with_a_synchronous_standby(pair, start_gateway, upstream, route):
    primary, standby, database, url = pair
    primary.make_synchronous()
    if route == "/joined":
        service = joining_upstream.Upstream(url).start()
        behind = service.url
    else:
        service, behind = None, upstream.url
    try:
        gateways = [start_gateway(CONFIG + JOINS, upstream_url=behind, store=url) for _ in range(2)]
        with Writers(gateways, path=route) as writers:
            time.sleep(1.5)
            wait_until(lambda: len(writers.acknowledged()) > 20)
            primary.kill()
            time.sleep(0.3)
            before = writers.acknowledged()
            standby.promote()
            # By themselves: no restart, no reload.
            wait_until(lambda: len(writers.acknowledged()) > len(before) + 20, 40,
                       lambda: [a for answers in list(writers.answers.values())[-3:] for a in answers])
        acknowledged = writers.acknowledged()
        last = writers.settle()
        assert len(before) > 20, "vacuous"
        for key, answer in acknowledged.items():
            assert (last[key].status, last[key].body) == (answer.status, answer.body), f"lost: {key} {answer} now {last[key]}"
        if route == "/joined":
            ledger = effects_by_key(standby, database)
            for key, answer in last.items():
                assert answer.problem is None, (key, answer)  # never unknown
                assert ledger[key] == [answer.body], (key, answer, ledger[key])
        else:
            done = collections.Counter(request.key for request in upstream.effects)
            for key, answer in last.items():
                assert done[key] <= 1, (key, done[key])
                assert answer.problem == "outcome-unknown" or done[key] == 1, (key, answer)
        assert all(gateway.operations("?state=pending") == [] for gateway in gateways)
        assert all(gateway.metrics().get("stet_lost_claims_total", 0) == 0 for gateway in gateways)
    finally:
        if service:
            service.end()


def test_what_an_asynchronous_standby_loses_is_counted(pair, start_gateway, make_upstream, key):
    """Replication stands still, claims are acknowledged and their upstream works, the primary dies: the answers find no claim."""
    primary, standby, database, url = pair
    gate = Gate()
    upstream = make_upstream()
    gateway = start_gateway(PATIENT, upstream_url=upstream.url, store=url)
    client = gateway.client({"Authorization": "Bearer alice"})
    kept = client.post(key=f"{key}-kept")
    assert kept.outcome == "completed"
    wait_until(lambda: primary.value("select count(*) from pg_stat_replication where replay_lsn = pg_current_wal_lsn()") == 1)
    standby.execute("alter system set primary_conninfo = ''")
    standby.execute("select pg_reload_conf()")  # the stream ends
    wait_until(lambda: primary.query("select 1 from pg_stat_replication") == [])

    answered = client.post(key=f"{key}-answered")
    assert answered.outcome == "completed"
    upstream.plan(*[gate] * 3)
    running = [background(client.post, key=f"{key}-{n}", timeout=60) for n in range(3)]
    wait_until(lambda: len(upstream.seen) == 5)
    primary.kill()
    standby.promote()
    gate.open()
    for n, call in enumerate(running):
        answer = call.result(60)
        # The upstream has acted and its answer is here, but no claim guards it any more: nothing is said that was not kept.
        assert answer.outcome == "unknown" and "would run again" in answer.json()["detail"], answer
    wait_until(lambda: gateway.metrics().get("stet_lost_claims_total", 0) == 3, 20,
               lambda: {k: v for k, v in gateway.metrics().items() if "lost" in k or "store" in k})
    assert client.post(key=f"{key}-kept").body == kept.body
    # What was acknowledged and not replicated is gone: this is the loss that the documentation speaks of. (The gateway that
    # answered has it in memory, for a while.)
    other = start_gateway(PATIENT, upstream_url=upstream.url, store=url).client({"Authorization": "Bearer alice"})
    again = other.post(key=f"{key}-answered")
    assert again.outcome == "completed" and again.body != answered.body
    for n in range(3):
        retried = client.post(key=f"{key}-{n}")
        assert retried.outcome in ("replayed", "unknown", "completed"), retried
