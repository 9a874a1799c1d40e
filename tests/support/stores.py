"""Where the gateways of a test keep their records. STET_TEST_STORE says which store the whole suite runs on:

    sqlite            a file for each gateway (the default)
    postgresql        a database for each gateway
    postgresql-twice  a database that two gateways share; each request goes to the other than the one before (in_turn.py)

The server is ctest's (STET_TEST_POSTGRES) or, where there is none, one of this run's own.
"""

import functools
import os
import re

import pytest
from support.in_turn import InTurn
from support.postgres import Cluster, Server
from support.processes import BINARY, Gateway, run_stet

STORE = os.environ.get("STET_TEST_STORE", "sqlite")
NAMES = ("sqlite", "postgresql", "postgresql-twice")


@functools.cache
def server():
    """The PostgreSQL that this run's tests share."""
    given = os.environ.get("STET_TEST_POSTGRES")
    if given:
        return Server(re.search(r"host=(\S+)", given)[1])
    cluster = Cluster()
    cluster.__enter__()
    return cluster


def end_server():
    for on, database in Stores.free:
        on.drop_database(database)
    if server.cache_info().currsize and isinstance(server(), Cluster):
        server().end()


def template(on):
    """The name of a database on that server that holds the schema and nothing else."""
    built = os.stat(BINARY)
    name = f"stet_{built.st_mtime_ns}_{built.st_size}"
    with on.connect() as db, db.cursor() as sql:
        sql.execute("select pg_advisory_lock(1)")  # another run may be about to make it, too
        sql.execute("select from pg_database where datname = %s", (name,))
        if sql.fetchone() is None:
            making = on.create_database()
            done = run_stet("schema", "apply", "--store", on.url(making))
            assert done.returncode == 0, done.stdout + done.stderr
            on.execute_when_free(f'alter database "{making}" rename to "{name}"')
    return name


def new_database(on=None):
    """A database with the schema and without records: (server, its name)."""
    on = on or server()
    if not hasattr(on, "stet_template"):
        on.stet_template = template(on)
    return on, on.create_database(template=on.stet_template)


class Stores:
    """What start_gateway makes its gateways with."""

    free = []  # emptied databases, for the tests to come

    def __init__(self):
        assert STORE in NAMES, f"STET_TEST_STORE is one of {NAMES}"
        self.used = []

    def make(self, directory, upstream, config, store=None, **more):
        if store is not None or STORE == "sqlite":
            return Gateway(directory, upstream, config, store=store, **more)
        on, database = self.free.pop() if self.free else new_database()
        self.used.append((on, database))
        kind = InTurn if STORE == "postgresql-twice" else Gateway
        gateway = kind(directory, upstream, config, store=on.url(database), **more)
        gateway.before_restart = lambda: self.let_leases_lapse(on, database)
        return gateway

    def let_leases_lapse(self, on, database):
        """Who restarts on a file knows that every owner is dead. On a server the leases of the dead must lapse first: here, at
        once."""
        on.end_backends(database)
        on.execute("update stet.leases set lease_until = lease_until - interval '1 d'", None, database)

    def give_back(self):
        """After the gateways have ended."""
        for on, database in self.used:
            on.end_backends(database)
            on.execute("delete from stet.operations; delete from stet.leases", None, database)
            self.free.append((on, database))


def about_sqlite(why):
    """For tests of a file's own ways: on another store they have nothing to look at."""
    return pytest.mark.skipif(STORE != "sqlite", reason=f"SQLite only: {why}")


def about_one_process(why):
    """For tests that look at a process rather than at what it answers."""
    return pytest.mark.skipif(STORE == "postgresql-twice", reason=f"one gateway only: {why}")


def select(items):
    """On another store than the first, only what starts a gateway says anything new: (those, the others)."""
    if STORE == "sqlite":
        return items, []
    fixtures = {"start_gateway", "start_module_gateway"}
    starts = [item for item in items if fixtures & set(getattr(item, "fixturenames", ()))]
    return starts, [item for item in items if item not in starts]
