"""A command by itself comes to what it comes to in a batch, although its function is written out for one key."""

import psycopg2
import pytest
from transactions import Transaction, raises

CLAIM = ("scope", "key", "nonce", "fingerprint", "recipe", "method", "path", "scope_rule", "on_unknown", "retention_ms", "tombstone_ms",
         "lease_ms")
COMPLETE = ("scope", "key", "nonce", "attempt", "status", "headers", "raw_headers", "body", "retention_ms")
TYPES = {"scope": "bytea", "key": "bytea", "nonce": "uuid", "fingerprint": "bytea", "path": "bytea", "on_unknown": "smallint",
         "retention_ms": "bigint", "tombstone_ms": "bigint", "lease_ms": "bigint", "attempt": "integer", "status": "integer",
         "headers": "jsonb", "raw_headers": "bytea", "body": "bytea"}
OURS, THEIRS = "00000000-0000-0000-0000-00000000000a", "00000000-0000-0000-0000-00000000000b"
CLAIMED = {"scope": b"s", "nonce": OURS, "fingerprint": b"f" * 32, "recipe": "v1", "method": "POST", "path": b"/charges", "scope_rule": "jwt",
           "on_unknown": 2, "retention_ms": 86_400_000, "tombstone_ms": 1000, "lease_ms": 30_000}
COMPLETED = {"scope": b"s", "nonce": OURS, "attempt": 1, "status": 201, "headers": '[["A", "b"]]', "raw_headers": None, "body": b"done",
             "retention_ms": None}

# What the record has come to before, as it stands in the tables.
BEFORE = {
    "absent": [],
    "running": [],
    "lapsed": ["update stet.leases set lease_until = '-infinity'"],
    "without a lease": ["delete from stet.leases"],
    "of an earlier lease": [f"update stet.leases set nonce = '{THEIRS}'"],
    "given back": ["update stet.operations set maybe_executed = true", "update stet.leases set lease_until = '-infinity'"],
    "taken over": [f"update stet.operations set nonce = '{THEIRS}', attempt = 2, maybe_executed = true",
                   f"update stet.leases set nonce = '{THEIRS}', attempt = 2"],
    "half done": ["update stet.operations set recovery_point = 'half'"],
    "unknown": ["update stet.operations set state = 2"],
    "completed": ["update stet.operations set state = 1, status = 201, headers = '[[\"A\", \"b\"]]', body = 'done', "
                  "expires_at = created_at + interval '1 day'"],
    "completed for ever, without its body": ["update stet.operations set state = 1, status = 204, raw_headers = '\\x00', "
                                             "retention_ms = null, sweep_at = 'infinity'"],
    "expired": ["update stet.operations set state = 3, expires_at = created_at + interval '1 hour'"],
}
COMMANDS = [
    *(("claim", {**CLAIMED, **other}) for other in (
        {}, {"nonce": THEIRS}, {"nonce": THEIRS, "fingerprint": b"g" * 32}, {"nonce": THEIRS, "recipe": "v2"}, {"nonce": None},
        {"nonce": THEIRS, "fingerprint": None, "recipe": None}, {"nonce": THEIRS, "retention_ms": None, "tombstone_ms": None, "lease_ms": 0})),
    *(("complete", {**COMPLETED, **other}) for other in (
        {}, {"nonce": THEIRS}, {"nonce": None}, {"attempt": 2}, {"nonce": THEIRS, "attempt": 2}, {"attempt": None}, {"status": 200},
        {"body": None}, {"headers": None, "raw_headers": b"\0", "body": None, "status": 204}, {"retention_ms": -1}, {"retention_ms": 5000})),
]


@pytest.fixture(scope="module")
def still(on, database):
    """The database of this file, where Stet's time stands still."""
    on.execute("create table at (at timestamptz)", database=database)
    on.execute("insert into at values ('2026-03-01')", database=database)
    on.execute("create or replace function stet.clock() returns timestamptz language sql volatile security definer "
               "return (select at from public.at)", database=database)
    return database


@pytest.fixture
def db(on, still):
    transaction = Transaction(on, still)
    yield transaction
    transaction.end()


def arguments(columns, values, array):
    """Placeholders with their types."""
    cast = [TYPES.get(column, "text") for column in columns]
    return ", ".join(f"array[%s]::{name}[]" if array else f"%s::{name}" for name in cast), [values[column] for column in columns]


def call(db, what, values, alone):
    columns = CLAIM if what == "claim" else COMPLETE
    placeholders, parameters = arguments(columns, values, array=not alone)
    wait = ", true" if what == "claim" else ""
    name = f"{what}_as_app" if alone else f"{what}s_as_app"
    return db.row(f"select * from stet.{name}({placeholders}{wait})", *parameters)


def said_to(db, what, values, alone):
    """The outcome, or why there is none."""
    try:
        return call(db, what, values, alone)
    except psycopg2.Error as error:
        db.rollback()
        return error.pgcode


def bring_to(db, before, key):
    if before == "absent":
        return
    assert call(db, "claim", {**CLAIMED, "key": key}, alone=False)[2] == 1
    for statement in BEFORE[before]:
        db.row(statement + " where key = %s", key)


def rows(db, key):
    return [db.row(f"select to_jsonb(t) - '{{key, id}}'::text[] from stet.{table} t where key = %s", key) for table in ("operations", "leases")]


# In the transaction that made the record and in a later one: a completion may be repeated in its own, and a lease that
# nobody can have seen goes with it.
@pytest.mark.parametrize("when", ["its own transaction", "a later one"])
@pytest.mark.parametrize("before", BEFORE)
def test_one_command_comes_to_the_same_alone_and_in_a_batch(db, before, when):
    verdicts = set()
    for number, (what, values) in enumerate(COMMANDS):
        came_to = []
        for alone in (True, False):
            key = f"{before} {when} {number} {'alone' if alone else 'batch'}".encode()
            bring_to(db, before, key)
            if when == "a later one":
                db.commit()
            said = [said_to(db, what, {**values, "key": key}, alone) for _ in range(2)]
            came_to.append((said, rows(db, key)))
            verdicts.add(said[0][2])
            db.commit()
            came_to[-1] += (rows(db, key),)
        assert came_to[0] == came_to[1], f"{what} {values}"
    assert len(verdicts) >= 2, "the commands tell nothing"


@pytest.mark.parametrize("alone", [True, False])
@pytest.mark.parametrize("what, values, sqlstate", [("claim", {**CLAIMED, "method": None}, "23502"),
                                                    ("complete", {**COMPLETED, "status": 99}, "22023"),
                                                    ("complete", {**COMPLETED, "status": None}, "22023")])
def test_one_command_is_refused_alike_alone_and_in_a_batch(db, what, values, sqlstate, alone):
    for _ in range(2):
        with raises(sqlstate):
            call(db, what, {**values, "key": b"refused"}, alone)
        db.rollback()


# Where a transaction keeps its snapshot, it begins anew.
@pytest.mark.parametrize("isolation", [None, "REPEATABLE READ", "SERIALIZABLE"])
@pytest.mark.parametrize("what", ["claim", "complete"])
@pytest.mark.parametrize("alone", [True, False])
def test_who_comes_second_hears_the_same_alone_and_in_a_batch(still, begin, isolation, what, alone):
    key = f"second {isolation} {what} {alone}".encode()
    first, second = begin(), begin(isolation=isolation)
    bring_to(first, "running" if what == "complete" else "absent", key)
    first.commit()
    second.row("select 1 from stet.meta")  # its snapshot, where it keeps one
    assert call(first, "claim", {**CLAIMED, "key": key}, alone)[2] == 1
    if what == "complete":
        assert call(first, "complete", {**COMPLETED, "key": key}, alone)[2] == 8
    first.commit()
    of_second = {**(CLAIMED if what == "claim" else COMPLETED), "nonce": THEIRS, "key": key}
    if isolation:
        with raises("40001"):
            call(second, what, of_second, alone)
    else:
        assert call(second, what, of_second, alone)[2] == (3 if what == "claim" else 9)
