"""An application's role: the functions and nothing else."""

import pytest
from support.processes import run_stet
from transactions import raises

ROLE = "stet_test_app"
FUNCTIONS = ["claim", "take_over", "complete", "fence", "release", "renew", "advance", "emit", "receive", "claims_as_app",
             "claim_as_app", "completes_as_app", "complete_as_app", "execute_as_app"]


@pytest.fixture(scope="module")
def database(on, database):
    on.execute(f"do $$ begin create role {ROLE} login; exception when duplicate_object then null; end $$")
    for _ in range(2):  # granting again changes nothing
        done = run_stet("schema", "apply", "--store", on.url(database), "--app-role", ROLE)
        assert done.returncode == 0, done.stderr
    return database


@pytest.fixture
def app(begin):
    return begin(user=ROLE)


def test_it_claims_works_and_completes(app, key):
    _, token = app.claim(key)
    app.row("select stet.renew(%s, '1 min')", token)
    app.row("select stet.advance(%s, 'half')", token)
    app.fence(token)
    app.complete(token)
    app.row("select stet.emit('t', 'x')")
    assert app.value("select stet.receive('s', %s)", key) is True
    app.commit()
    assert app.answer(key) == ("replay", b"done")


@pytest.mark.parametrize("table", ["operations", "operations_0", "leases", "outbox", "inbox", "meta"])
@pytest.mark.parametrize("statement", ["select * from stet.{}", "delete from stet.{}", "insert into stet.{} default values",
                                       "select count(*) from stet.{}", "truncate stet.{}", "lock stet.{}"])
def test_no_table_is_open_to_it(app, table, statement):
    with raises("42501"):
        app.row(statement.format(table))


def test_no_other_function_is_open_to_it(on, database):
    open_to_it = on.query("select distinct proname from pg_proc where pronamespace = 'stet'::regnamespace and "
                          "has_function_privilege(%s, oid, 'execute')", (ROLE,), database)
    assert sorted(name for (name,) in open_to_it) == sorted(FUNCTIONS)


# Whoever calls a function that runs with its owner's rights chooses the search path, unless the function has its own.
def test_what_runs_with_the_owners_rights_finds_names_in_its_own_path(on, database):
    paths = on.query("select proname, array_to_string(proconfig, ' ') from pg_proc where pronamespace = 'stet'::regnamespace and "
                     "prosecdef", None, database)
    assert {"claim", "run_claims", "run_completes", "execute", "sweep", "find", "list"} <= {name for name, _ in paths}
    assert [name for name, settings in paths if "search_path=pg_catalog, pg_temp" not in (settings or "")] == []


def test_a_role_without_the_grant_may_do_nothing(on, database, begin, key):
    on.execute("do $$ begin create role stet_test_nobody login; exception when duplicate_object then null; end $$")
    with raises("42501"):
        begin(user="stet_test_nobody").claim(key)


def test_another_fingerprint_is_shown_nothing_that_is_stored(begin, app, key):
    owner = begin()
    _, token = owner.claim(key)
    owner.complete(token, b"secret")
    owner.commit()
    said = app.row("select * from stet.claim('s', %s, 'guessed')", key)
    assert said == ("mismatch", None, None, None, None, None, None)
    arrays = ("'{s}', array[%s]::bytea[], '{00000000-0000-0000-0000-000000000001}', '{\"\\\\x00\"}', '{v1}', '{POST}', '{/}', '{x}', "
              "'{0}', '{1}', '{1}', '{1}'" + ", '{}'" * 21 + ", false")
    shown = app.row("select verdict, fingerprint, recipe, method, path, body, headers, nonce from "
                    f"stet.execute_as_app({arrays})", key)
    assert shown == (4, None, None, None, None, None, None, None)


@pytest.mark.parametrize("what", [6, 8, 9])
def test_it_settles_nothing_that_it_does_not_own(app, what):
    with raises("42501"):
        app.row("select * from stet.execute_as_app(" + "'{}', " * 21 + "array[%s]::smallint[], '{s}', '{k}', "
                "'{00000000-0000-0000-0000-000000000001}', '{1}'" + ", '{null}'" * 7 + ", false)", what)


def as_app(app, **columns):
    """execute_as_app with these columns; the others are empty."""
    names = ("c_scope c_key c_nonce c_fingerprint c_recipe c_method c_path c_scope_rule c_on_unknown c_retention_ms c_tombstone_ms "
             "c_lease_ms d_scope d_key d_nonce d_attempt d_status d_headers d_raw_headers d_body d_retention_ms o_what o_scope o_key "
             "o_nonce o_attempt o_new_nonce o_lease_ms o_recovery_point o_status o_headers o_raw_headers o_body").split()
    assert set(columns) <= set(names)
    return app.row("select verdict, nonce, body, fingerprint from stet.execute_as_app("
                   + ", ".join(f"{name} => '{columns.get(name, '{}')}'" for name in names) + ", wait => false)")


# A null is equal to nothing and different from nothing: a comparison that forgets that lets everything pass.
@pytest.mark.parametrize("state", ["pending", "completed", "unknown", "lapsed"])
@pytest.mark.parametrize("recipe", ["sql", "NULL"])
def test_no_fingerprint_at_all_is_shown_nothing_either(on, database, begin, app, key, state, recipe):
    owner = begin()
    _, token = owner.claim(key, lease="1 ms" if state == "lapsed" else "30 s")
    if state == "completed":
        owner.complete(token, b"secret")
    owner.commit()
    if state == "unknown":
        on.execute("update stet.operations set state = 2 where key = %s", (key.encode(),), database)
    for _ in range(2):
        said = as_app(app, c_scope="{s}", c_key="{%s}" % key, c_nonce="{00000000-0000-0000-0000-000000000001}",
                      c_fingerprint="{NULL}", c_recipe="{%s}" % recipe, c_method="{POST}", c_path="{/}", c_scope_rule="{x}",
                      c_on_unknown="{1}", c_retention_ms="{1}", c_tombstone_ms="{1}", c_lease_ms="{1}")
        assert said == (4, None, None, None)


@pytest.mark.parametrize("nonce, attempt", [("NULL", "1"), ("NULL", "NULL"), ("00000000-0000-0000-0000-000000000001", "NULL")])
@pytest.mark.parametrize("what", [None, 1, 2, 3, 4, 5, 7])
def test_half_a_token_is_no_token(on, database, begin, app, key, what, nonce, attempt):
    owner = begin()
    owner.claim(key)
    owner.commit()
    on.execute("update stet.leases set lease_until = '-infinity' where key = %s", (key.encode(),), database)
    look = "select state, nonce, attempt, recovery_point, maybe_executed from stet.operations where key = %s"
    before = on.query(look, (key.encode(),), database)
    for _ in range(2):
        if what is None:
            said = as_app(app, d_scope="{s}", d_key="{%s}" % key, d_nonce="{%s}" % nonce, d_attempt="{%s}" % attempt, d_status="{200}",
                          d_headers='{"[]"}', d_raw_headers="{NULL}", d_body="{forged}", d_retention_ms="{NULL}")
        else:
            said = as_app(app, o_what="{%d}" % what, o_scope="{s}", o_key="{%s}" % key, o_nonce="{%s}" % nonce,
                          o_attempt="{%s}" % attempt, o_new_nonce="{00000000-0000-0000-0000-000000000002}", o_lease_ms="{1000}",
                          o_recovery_point="{forged}", o_status="{NULL}", o_headers="{NULL}", o_raw_headers="{NULL}", o_body="{NULL}")
        assert said[0] == 9
    app.commit()
    assert on.query(look, (key.encode(),), database) == before


# What a gateway could not send must not come from here either.
@pytest.mark.parametrize("status", ["NULL", "0", "7", "99", "600", "1000", "-200"])
def test_no_answer_without_a_status_is_recorded(begin, app, key, status):
    owner = begin()
    _, token = owner.claim(key)
    owner.commit()
    for _ in range(2):
        with raises("22023"):
            as_app(app, d_scope="{s}", d_key="{%s}" % key, d_nonce="{%s}" % token.split(".")[2], d_attempt="{1}",
                   d_status="{200,%s}" % status, d_headers='{"[]"}', d_raw_headers="{NULL}", d_body="{x}", d_retention_ms="{NULL}")
        app.rollback()
    assert begin().answer(key) == ("in_progress", None)


# Names are looked up where the owner said, whatever the caller's path says.
def test_a_table_of_the_same_name_in_the_callers_path_changes_nothing(on, database, begin, key):
    on.execute(f"grant create, temporary on database \"{database}\" to {ROLE}", database=database)
    trap = begin(user=ROLE)
    trap.row("create temporary table operations (scope bytea, key bytea)")
    trap.row("create schema trap")
    trap.row("create function trap.sha256(bytea) returns bytea language sql as $$ select 'x'::bytea $$")
    trap.row("create function trap.clock_timestamp() returns timestamptz language sql as $$ select '1999-01-01'::timestamptz $$")
    trap.row("set search_path = trap, pg_temp, pg_catalog")
    _, token = trap.claim(key)
    trap.complete(token)
    trap.commit()
    assert begin().answer(key) == ("replay", b"done")
    # Nor can the path make the owner's functions run the caller's code.
    assert on.value("select created_at > now() - interval '1 hour' from stet.operations where key = %s", (key.encode(),), database)
    on.execute("drop schema trap cascade", database=database)


