"""stet schema print, apply and status, on real databases."""

import pytest
from support.processes import run_stet


@pytest.fixture
def empty(on):
    """A database with nothing in it."""
    name = on.create_database()
    yield name
    on.drop_database(name)


def schema(*arguments):
    return run_stet("schema", *arguments)


def tables(on, database):
    return {name for (name,) in on.query("select relname from pg_class where relnamespace = to_regnamespace('stet')", database=database)}


def test_apply_creates_the_schema_once(on, empty):
    first = schema("apply", "--store", on.url(empty), "--partitions", "4")
    assert (first.returncode, first.stdout) == (0, "created: schema stet, version 1, 4 partitions\n"), first.stderr
    there = tables(on, empty)
    second = schema("apply", "--store", on.url(empty))
    assert (second.returncode, second.stdout) == (0, "nothing to do: schema stet, version 1, 4 partitions\n"), second.stderr
    assert tables(on, empty) == there
    status = schema("status", "--store", on.url(empty))
    assert (status.returncode, status.stdout) == (0, "schema stet, version 1 (this binary works with 1), 4 partitions\n"), status.stderr


def test_the_schema_has_16_partitions_unless_more_or_fewer_are_asked_for(on, empty):
    assert schema("apply", "--store", on.url(empty)).stdout == "created: schema stet, version 1, 16 partitions\n"
    assert on.value("select value from stet.meta where name = 'partitions'", database=empty) == "16"


def test_another_number_of_partitions_is_refused_later(on, empty):
    schema("apply", "--store", on.url(empty), "--partitions", "4")
    for _ in range(2):
        refused = schema("apply", "--store", on.url(empty), "--partitions", "8")
        assert refused.returncode == 3
        assert "4 partitions, which cannot be changed" in refused.stderr


@pytest.mark.parametrize("count", ["0", "-1", "1025", "many", ""])
def test_a_wrong_number_of_partitions_is_a_usage_error(on, empty, count):
    assert schema("apply", "--store", on.url(empty), "--partitions", count).returncode == 2
    assert tables(on, empty) == set()


def test_what_is_printed_is_what_is_applied(on, empty):
    printed = schema("print", "postgres", "--partitions", "3")
    assert printed.returncode == 0
    done = on.psql("begin;\n" + printed.stdout + "commit;\n", empty)
    assert done.returncode == 0, done.stderr
    status = schema("status", "--store", on.url(empty))
    assert (status.returncode, status.stdout) == (0, "schema stet, version 1 (this binary works with 1), 3 partitions\n")


def test_status_says_that_there_is_nothing(on, empty):
    for _ in range(2):
        status = schema("status", "--store", on.url(empty))
        assert status.returncode == 1
        assert "stet schema apply" in status.stdout
    assert tables(on, empty) == set(), "looking must not make a schema"


def test_status_says_what_is_missing(on, empty):
    schema("apply", "--store", on.url(empty))
    on.execute("drop function stet.receive(text, text)", database=empty)
    on.execute("drop table stet.inbox", database=empty)
    on.execute("drop index stet.operations_sweep", database=empty)
    status = schema("status", "--store", on.url(empty))
    assert status.returncode == 1
    assert status.stdout.splitlines()[1:] == ["missing: function stet.receive", "missing: index stet.operations_sweep",
                                              "missing: table stet.inbox"]


def test_status_says_that_partitions_are_missing(on, empty):
    schema("apply", "--store", on.url(empty), "--partitions", "4")
    assert schema("status", "--store", on.url(empty)).returncode == 0
    on.execute("drop table stet.operations_3; alter table stet.operations detach partition stet.operations_0", database=empty)
    status = schema("status", "--store", on.url(empty))
    assert (status.returncode, status.stdout.splitlines()[1:]) == (1, ["missing: 2 partitions of table stet.operations"])


@pytest.mark.parametrize("command", ["apply", "status"])
def test_a_newer_schema_is_left_alone(on, empty, command):
    schema("apply", "--store", on.url(empty))
    on.execute("update stet.meta set value = '2' where name = 'schema_version'", database=empty)
    done = schema(command, "--store", on.url(empty))
    assert done.returncode == (3 if command == "apply" else 1)
    assert "version 2" in done.stderr + done.stdout
    assert on.value("select value from stet.meta where name = 'schema_version'", database=empty) == "2"


def test_a_schema_of_that_name_that_is_not_ours_is_left_alone(on, empty):
    on.execute("create schema stet", database=empty)
    on.execute("create table stet.operations (theirs int)", database=empty)
    for _ in range(2):
        done = schema("apply", "--store", on.url(empty))
        assert done.returncode == 3
        assert "not Stet's" in done.stderr
    assert tables(on, empty) == {"operations"}


def test_all_is_applied_or_nothing(on, empty):
    refused = schema("apply", "--store", on.url(empty), "--app-role", "nobody_of_that_name")
    assert refused.returncode == 3
    assert "CREATE ROLE nobody_of_that_name LOGIN" in refused.stderr
    assert tables(on, empty) == set()


def test_a_role_may_have_any_name(on, empty):
    name = 'odd "role"; drop'
    quoted = name.replace('"', '""')
    on.execute(f'do $$ begin create role "{quoted}" login; exception when duplicate_object then null; end $$')
    for _ in range(2):
        done = schema("apply", "--store", on.url(empty), "--app-role", name)
        assert done.returncode == 0, done.stderr
    assert on.value("select has_function_privilege(%s, 'stet.release(text)', 'execute')", (name,), empty)
    on.execute(f'drop owned by "{quoted}"', database=empty)
    on.execute(f'drop role "{quoted}"')


def test_public_is_no_role(on, empty):
    for command in (["apply", "--store", on.url(empty)], ["print", "postgres"]):
        refused = schema(*command, "--app-role", "public")
        assert refused.returncode == 2, refused.stdout
        assert "everybody" in refused.stderr
    assert tables(on, empty) == set()


# A gateway's role, as docs/operating.md lets it have, may call the functions and not give them away.
def test_whoever_cannot_grant_is_told_so(on, empty):
    for role in ("stet_test_gateway", "stet_test_ungranted"):
        on.execute(f"do $$ begin create role {role} login; exception when duplicate_object then null; end $$")
    schema("apply", "--store", on.url(empty))
    on.execute("grant usage on schema stet to stet_test_gateway", database=empty)
    on.execute("grant execute on all functions in schema stet to stet_test_gateway", database=empty)
    on.execute("grant select on stet.meta to stet_test_gateway", database=empty)
    for _ in range(2):
        refused = schema("apply", "--store", on.url(empty, user="stet_test_gateway"), "--app-role", "stet_test_ungranted")
        assert refused.returncode == 3, refused.stdout
        assert "owner of the schema" in refused.stderr
    on.execute("drop owned by stet_test_gateway", database=empty)


def test_a_role_without_the_right_to_create_is_told_so(on, empty):
    on.execute("do $$ begin create role stet_test_guest login; exception when duplicate_object then null; end $$")
    refused = schema("apply", "--store", on.url(empty, user="stet_test_guest"))
    assert refused.returncode == 3
    assert "owner of the database" in refused.stderr
    assert tables(on, empty) == set()


def test_a_server_that_is_away_is_named(tmp_path):
    for command in ("apply", "status"):
        done = schema(command, "--store", f"postgresql://postgres@/postgres?host={tmp_path}")
        assert done.returncode == 3
        assert str(tmp_path) in done.stderr


@pytest.mark.parametrize("arguments", [
    [], ["print"], ["print", "oracle"], ["apply"], ["status"], ["apply", "--store", "redis://h"], ["apply", "--store", "sqlite:stet.db"],
    ["status", "--store", "sqlite:stet.db"], ["print", "sqlite", "--partitions", "4"], ["print", "sqlite", "--app-role", "app"],
    ["apply", "--store", "postgresql://h:not a port/db"]])
def test_what_makes_no_sense_is_a_usage_error(arguments):
    done = schema(*arguments)
    assert done.returncode == (3 if "not a port" in " ".join(arguments) else 2), done.stderr
    assert done.stderr


def test_the_tables_for_a_file_of_your_own_can_be_made_with_sqlite(tmp_path):
    import sqlite3

    printed = schema("print", "sqlite")
    assert printed.returncode == 0
    db = sqlite3.connect(tmp_path / "own.db")
    for _ in range(2):
        db.executescript(printed.stdout)
    assert db.execute("select count(*) from sqlite_master where name like 'stet%' and type = 'table'").fetchone()[0] >= 4


def test_the_store_may_come_from_the_environment(on, empty):
    done = run_stet("schema", "apply", env={"STET_STORE": on.url(empty)})
    assert done.returncode == 0, done.stderr
