"""The cases of functions.sql, each a script of psql's."""

import pathlib
import re

import pytest

HERE = pathlib.Path(__file__).resolve().parent
CASES = re.findall(r"^--- (.+)\n((?:(?!--- ).*\n)*)", (HERE / "functions.sql").read_text(), re.M)


@pytest.fixture(scope="module")
def database(on, database):
    done = on.psql((HERE / "assertions.sql").read_text(), database)
    assert done.returncode == 0, done.stderr
    return database


@pytest.mark.parametrize("script", [pytest.param(script, id=name) for name, script in CASES])
def test_functions(on, database, script):
    done = on.psql(script, database)
    assert done.returncode == 0, done.stderr
    assert "WARNING" not in done.stderr, done.stderr


def test_every_case_is_found():
    assert len(CASES) == (HERE / "functions.sql").read_text().count("\n--- ")
