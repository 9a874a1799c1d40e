"""Dependencies run one way, and only one folder knows each engine. Reads the #includes; nothing is compiled."""

import re
from pathlib import Path

import pytest

SOURCE = Path(__file__).resolve().parents[2] / "src"
PUBLIC = SOURCE.parent / "include" / "stet"

# folder → the folders of src/ that it may include (itself and the public headers always)
MAY_INCLUDE = {
    "core": set(),
    "stores": {"core"},
    "http": {"core"},
    "config": {"core", "http"},
    "identify": {"core", "http", "config"},
    "library": {"core"},
    "idempotent": {"core", "http", "config", "identify", "library"},
    "asio": set(),
    "admin": {"core", "http", "config", "stores", "asio"},
    "gateway": {"core", "http", "config", "identify", "stores", "admin", "asio"},
    "demo": {"core", "http", "config"},
    "probe": {"core", "http", "config"},
}

# header → the only folders that may include it
KEPT_IN = {
    "sqlite3.h": {"stores/sqlite", "demo"},
    "libpq-fe.h": {"stores/postgres"},
    "toml": {"config", "probe"},
    "yaml-cpp": {"probe"},
    "boost/asio": {"asio", "gateway", "admin"},
    "boost/beast": set(),
}


def is_test(path):
    return path.name.endswith(("_test.cpp", "_pgtest.cpp", "_for_test.hpp", "_for_test.cpp"))


def sources():
    return [path for path in SOURCE.rglob("*") if path.suffix in {".cpp", ".hpp"}]


def includes(path):
    return re.findall(r'^\s*#\s*include\s+[<"]([^>"]+)[>"]', path.read_text(), re.MULTILINE)


def test_every_folder_has_its_place():
    folders = {path.relative_to(SOURCE).parts[0] for path in sources()}
    assert folders <= set(MAY_INCLUDE), f"not in the table above: {folders - set(MAY_INCLUDE)}"


@pytest.mark.parametrize("folder", sorted(MAY_INCLUDE))
def test_a_folder_includes_only_what_stands_below_it(folder):
    wrong = []
    for path in (SOURCE / folder).rglob("*"):
        if path.suffix not in {".cpp", ".hpp"} or is_test(path):
            continue
        for header in includes(path):
            first = header.split("/")[0]
            if first in MAY_INCLUDE and first != folder and first not in MAY_INCLUDE[folder]:
                wrong.append(f"{path.relative_to(SOURCE)} includes {header}")
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize("header", sorted(KEPT_IN))
def test_an_engine_is_known_in_its_own_folder_only(header):
    wrong = []
    for path in sources():
        if is_test(path):
            continue
        here = path.relative_to(SOURCE).as_posix()
        for included in includes(path):
            if included.startswith(header) and not any(here.startswith(place + "/") for place in KEPT_IN[header]):
                wrong.append(f"{here} includes {included}")
    assert not wrong, "\n".join(wrong)


def test_the_core_and_the_public_headers_know_neither_boost_nor_a_database():
    wrong = [
        f"{path.name} includes {header}"
        for path in [*(SOURCE / "core").glob("*.?pp"), *PUBLIC.rglob("*.hpp")]
        if path.name != "beast.hpp"  # an adapter includes what it adapts to
        for header in includes(path)
        if header.startswith(("boost/", "sqlite3", "libpq", "hiredis"))
    ]
    assert not wrong, "\n".join(wrong)


def test_no_file_is_too_long_to_read():
    long = {}
    for path in [*sources(), *PUBLIC.rglob("*.hpp"), *(SOURCE.parent / "apps").rglob("*.?pp")]:
        lines = len(path.read_text().splitlines())
        if lines > 600:
            long[path.name] = lines
    assert not long
