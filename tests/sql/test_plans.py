"""What PostgreSQL does for the statements of stet.execute: one partition for a key, the index whatever the tables held when the
plan was made, HOT updates."""

import re

import pytest
from transactions import Transaction

BATCH = 64
CLAIMS = """
select count(*) filter (where verdict = 1) from stet.execute(
  c_scope => s, c_key => k, c_nonce => n, c_fingerprint => array_fill(sha256('f'), array[cardinality(k)]),
  c_recipe => array_fill('v1'::text, array[cardinality(k)]), c_method => array_fill('POST'::text, array[cardinality(k)]),
  c_path => array_fill('/charges'::bytea, array[cardinality(k)]), c_scope_rule => array_fill('jwt'::text, array[cardinality(k)]),
  c_on_unknown => array_fill(0::smallint, array[cardinality(k)]), c_retention_ms => array_fill(86400000::bigint, array[cardinality(k)]),
  c_tombstone_ms => array_fill(86400000::bigint, array[cardinality(k)]), c_lease_ms => array_fill(30000::bigint, array[cardinality(k)]))
"""
COMPLETES = """
select count(*) filter (where verdict = 8) from stet.execute(
  d_scope => s, d_key => k, d_nonce => n, d_attempt => array_fill(1, array[cardinality(k)]),
  d_status => array_fill(201, array[cardinality(k)]),
  d_headers => array_fill('[["Content-Type", "application/json"]]'::jsonb, array[cardinality(k)]),
  d_raw_headers => array_fill(null::bytea, array[cardinality(k)]),
  d_body => array_fill(convert_to(repeat('x', 200), 'UTF8'), array[cardinality(k)]),
  d_retention_ms => array_fill(null::bigint, array[cardinality(k)]))
"""


def batch(first, count=BATCH, scopes=7):
    """A FROM clause: arrays s (scopes), k (keys) and n (nonces) of so many operations."""
    return (f" from (select array_agg(('hotel-' || i % {scopes})::bytea) s, array_agg(('key-' || i)::bytea) k, "
            f"array_agg(md5(i::text)::uuid) n from generate_series({first}, {first + count - 1}) i) b")


def in_batch(call, first, **more):
    head, _, rest = call.partition("from stet.execute")
    return f"{head}{batch(first, **more)}, lateral stet.execute{rest}"


@pytest.fixture
def db(on, alone):
    connection = Transaction(on, alone)
    connection.connection.autocommit = True
    yield connection
    connection.end()


def plans(db, *statements):
    """The nested plans of these statements, as the server ran them: (query, plan)."""
    db.row("load 'auto_explain'")
    for setting in ("log_min_duration = 0", "log_nested_statements = on", "log_analyze = on", "log_timing = off"):
        db.row(f"set auto_explain.{setting}")
    db.row("set client_min_messages = log")
    del db.connection.notices[:]
    db.connection.notices = []
    for statement in statements:
        db.row(statement)
    db.row("reset client_min_messages")
    found = []
    for notice in db.connection.notices:
        matched = re.search(r"plan:\s*Query Text: (.*?)\n((?:\S.*  \(cost=).*)", notice, re.S)
        if matched:
            found.append((" ".join(matched[1].split()), matched[2]))
    return found


def partitions_read(plan):
    """Those in which something was looked for: the plan names all, and is pruned by each row's scope as it runs."""
    return {int(n) for n in re.findall(r"Scan .*on operations_(\d+)(?!.*never executed).*actual", plan)}


def test_each_statement_about_a_key_reads_one_partition_by_its_index(db):
    db.row(in_batch(CLAIMS, 1, count=2000))
    seen = plans(db, in_batch(CLAIMS, 3001, count=1), in_batch(CLAIMS, 3001, count=1), in_batch(COMPLETES, 3001, count=1),
                 "select * from stet.execute(o_what => '{2}', o_scope => '{hotel-5}', o_key => '{key-3001}', o_nonce => "
                 "array[md5('3001')]::uuid[], o_attempt => '{1}', o_lease_ms => '{1}')",
                 "select * from stet.claim('hotel-1', 'new', 'f')")
    about_keys = [(query, plan) for query, plan in seen if "operations_" in plan]
    assert len(about_keys) >= 8, seen
    for query, plan in about_keys:
        assert "Seq Scan" not in plan and "Hash Join" not in plan and "Merge Join" not in plan, f"{query}\n{plan}"
        assert len(partitions_read(plan)) <= 1, f"{query}\n{plan}"


# What makes a claim of its own cheap; a batch's plans open all of them.
def test_a_claim_by_itself_opens_one_partition_for_what_it_reads(db):
    seen = plans(db, *["select * from stet.claim('hotel-1', 'alone', 'f')"] * 2)
    read = [plan for query, plan in seen if "operations_" in plan and "INSERT" not in query]
    assert len(read) >= 2, seen
    for plan in read:
        assert len(set(re.findall(r" on operations_(\d+)", plan))) == 1, plan


def test_a_batch_reads_only_the_partitions_of_its_scopes(db):
    db.row(in_batch(CLAIMS, 1))
    (written,) = [plan for query, plan in plans(db, in_batch(COMPLETES, 1, scopes=7)) if "UPDATE stet.operations" in query]
    assert 1 <= len(partitions_read(written)) <= 7, written


# The first calls of a connection meet empty tables, for which a plan that reads them whole would look cheapest.
def test_plans_made_over_empty_tables_use_the_index_when_they_are_full(db):
    db.row("analyze")
    for i in range(8):
        db.row(in_batch(CLAIMS, 1 + i, count=1))
        db.row(in_batch(COMPLETES, 1 + i, count=1))
    for i in range(10):
        db.row(in_batch(CLAIMS, 10_000 * (i + 1), count=1000))
    seen = plans(db, in_batch(CLAIMS, 500_000, count=1), in_batch(COMPLETES, 500_000, count=1))
    for query, plan in seen:
        assert "Seq Scan" not in plan, f"{query}\n{plan}"
        rows = [int(n) for n in re.findall(r"Scan .*on operations_\d+ .*actual rows=(\d+)", plan)]
        assert all(n <= 1 for n in rows), f"{query}\n{plan}"


def updates_of(db, tables):
    """(all, hot) since the database was made."""
    db.row("select pg_stat_force_next_flush()")
    db.row("select 1")
    return db.row("select sum(n_tup_upd), sum(n_tup_hot_upd) from pg_stat_user_tables where schemaname = 'stet' and "
                  f"relname like '{tables}'")


# One batch on fresh pages: their fill factor leaves room for every new version. Later ones need the room of versions
# that nobody can see any more, and when that is given back depends on what else the server is doing.
def test_every_completion_is_a_hot_update(db):
    assert db.value(in_batch(CLAIMS, 1, scopes=50)) == BATCH
    assert db.value(in_batch(COMPLETES, 1, scopes=50)) == BATCH
    assert updates_of(db, "operations\\_%") == (BATCH, BATCH)


def test_renewals_are_hot_updates_that_leave_the_operations_alone(db):
    db.row(in_batch(CLAIMS, 1))
    renewed = db.value(f"select count(*) filter (where verdict = 8) {batch(1)}, lateral stet.execute(o_what => "
                       "array_fill(2::smallint, array[cardinality(k)]), o_scope => s, o_key => k, o_nonce => n, "
                       "o_attempt => array_fill(1, array[cardinality(k)]), o_lease_ms => array_fill(1000::bigint, array[cardinality(k)]))")
    assert renewed == BATCH
    assert updates_of(db, "leases") == (BATCH, BATCH)
    assert updates_of(db, "operations\\_%") == (0, 0)


# A service's own table, partitioned by its own column, with that column as the scope.
def test_a_business_table_partitioned_by_its_tenant_is_pruned_like_the_key(db):
    db.row("create table reservations (hotel_id int, id int, room int, primary key (hotel_id, id)) partition by hash (hotel_id)")
    for i in range(8):
        db.row(f"create table reservations_{i} partition of reservations for values with (modulus 8, remainder {i})")
    db.row("create function reserve(hotel int, reservation int, idempotency_key text) returns text language plpgsql as $$\n"
           "declare c record;\n"
           "begin\n"
           "  select * into c from stet.claim(hotel::text, idempotency_key, reservation::text::bytea);\n"
           "  if c.verdict <> 'claimed' then return c.verdict; end if;\n"
           "  insert into reservations values (hotel, reservation, 1);\n"
           "  update reservations set room = 7 where hotel_id = hotel and id = reservation;\n"
           "  perform stet.complete(c.token, 201, '[]', 'reserved');\n"
           "  return c.verdict;\n"
           "end $$")
    db.row("set plan_cache_mode = force_generic_plan")
    for i in range(20):
        assert db.value("select reserve(%s, %s, %s)", i % 3, i, f"k{i}") == "claimed"
        assert db.value("select reserve(%s, %s, %s)", i % 3, i, f"k{i}") == "replay"
    seen = plans(db, "select reserve(1, 100, 'another')")
    (own,) = [plan for query, plan in seen if query.startswith("update reservations")]
    assert "Subplans Removed: 7" in own, own
    for query, plan in seen:
        if "operations_" in plan:
            assert len(partitions_read(plan)) <= 1, f"{query}\n{plan}"
    assert db.value("select count(*) from reservations where room = 7") == 21


# What the reconciler asks every few seconds.
@pytest.mark.parametrize("question", ["0::smallint, null, null, null, true", "0::smallint, null, null, null, false",
                                      "2::smallint, null, null, null, false"])
def test_what_is_open_is_found_without_reading_what_is_completed(db, question):
    for i in range(3):
        db.row(in_batch(CLAIMS, 1 + 1000 * i, count=1000))
        db.row(in_batch(COMPLETES, 1 + 1000 * i, count=1000))
    assert db.value(in_batch(CLAIMS, 9001, count=5)) == 5
    db.row("analyze")
    assert db.value("select count(*) from stet.list(0::smallint, null, null, null, false, 100)") == 5
    for query, plan in plans(db, f"select * from stet.list({question}, 100)"):
        assert not re.search(r"Seq Scan on operations_\d+(?!.*never executed)", plan), f"{query}\n{plan}"
        rows = [int(n) for n in re.findall(r"Scan .*on operations_\d+ .*actual rows=(\d+)", plan)]
        assert all(n <= 1 for n in rows), f"{query}\n{plan}"


def test_nothing_that_searches_the_partitions_is_compiled_first(db):
    # Sixteen partitions cost more than jit_above_cost by the planner's reckoning: a second of compiling for milliseconds of work.
    assert db.value("select coalesce(string_agg(proname, ', '), '') from pg_proc where pronamespace = 'stet'::regnamespace"
                    " and prokind = 'f' and proname in ('execute', 'run_claims', 'run_completes', 'claim', 'complete', 'claim_as_app',"
                    " 'complete_as_app', 'sweep', 'find', 'fence', 'list')"
                    " and not 'jit=off' = any(coalesce(proconfig, '{}'))") == ""
    assert db.value("select count(*) from stet.list(2::smallint, null, null, null, false, 100)") == 0
