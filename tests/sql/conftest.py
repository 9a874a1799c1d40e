"""The schema `stet` by itself, as a service sees it: through psql, and through psycopg2 where two transactions meet."""

import pathlib
import sys

import pytest
from support import stores

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

from transactions import Transaction  # noqa: E402


@pytest.fixture(scope="module")
def on():
    """The server."""
    return stores.server()


@pytest.fixture(scope="module")
def database(on):
    """A database with the schema, for the tests of a file: each has keys of its own."""
    _, name = stores.new_database(on)
    yield name
    on.drop_database(name)


@pytest.fixture
def alone(on):
    """A database with the schema, for one test that counts or replaces something in it."""
    _, name = stores.new_database(on)
    yield name
    on.drop_database(name)


@pytest.fixture
def begin(on, database):
    """begin() → another transaction on the database of this file."""
    opened = []

    def start(**more):
        opened.append(Transaction(on, more.pop("database", database), **more))
        return opened[-1]

    yield start
    for transaction in opened:
        transaction.end()
