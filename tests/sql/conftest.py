"""The schema `stet` by itself, as a service sees it: through psql, and through psycopg2 where two transactions meet."""

import pytest
from support import stores


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
