"""The library, built alone by g++ and installed into a prefix, serves a project that knows nothing of this tree."""

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
BUILD = Path(os.environ["STET_OUTSIDE_BUILD"])  # kept between runs: only what has changed is compiled again
COMPILERS = ["g++-12", "clang++-19"]
ORDERS = "201 order 1\n201 order 1\n201 order 1\ncompleted 0, swept 0\nversion {}\n"


def run(*command, **options):
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True, timeout=1200, **options)
    assert done.returncode == 0, f"{command}\n{done.stdout[-4000:]}\n{done.stderr[-4000:]}"
    return done.stdout


def version():
    return re.search(r"project\(stet VERSION (\S+)", (ROOT / "CMakeLists.txt").read_text()).group(1)


@pytest.fixture(scope="module")
def prefix(tmp_path_factory):
    library = BUILD / "library"
    run("cmake", "-S", ROOT, "-B", library, "-G", "Ninja", "-DSTET_GATEWAY=OFF", "-DSTET_TESTS=OFF",
        "-DCMAKE_BUILD_TYPE=Release", "-DCMAKE_CXX_COMPILER=g++-12")
    run("cmake", "--build", library)
    prefix = tmp_path_factory.mktemp("prefix")
    run("cmake", "--install", library, "--prefix", prefix, "--component", "library")
    return prefix


def orders_of(program, tmp_path):
    return run(program, tmp_path / "orders.db")


@pytest.mark.parametrize("compiler", COMPILERS)
def test_find_package(prefix, tmp_path, compiler):
    project = shutil.copytree(ROOT / "tests" / "outside" / "project", tmp_path / "project")
    run("cmake", "-S", project, "-B", tmp_path / "build", "-G", "Ninja", f"-DCMAKE_PREFIX_PATH={prefix}",
        f"-DCMAKE_CXX_COMPILER={compiler}")
    run("cmake", "--build", tmp_path / "build")
    assert orders_of(tmp_path / "build" / "orders", tmp_path) == ORDERS.format(version())
    assert run(tmp_path / "build" / "accounts").startswith("no store: ")


@pytest.mark.parametrize("compiler", COMPILERS)
def test_pkg_config(prefix, tmp_path, compiler):
    found = {**os.environ, "PKG_CONFIG_PATH": next(prefix.rglob("pkgconfig"))}
    for program, modules in (("orders", ["stet-sqlite", "stet-http"]), ("accounts", ["stet-postgres"])):
        flags = run("pkg-config", "--cflags", "--libs", *modules, env=found).split()
        run(compiler, "-std=c++20", ROOT / "tests" / "outside" / "project" / f"{program}.cpp", "-o", tmp_path / program,
            *flags)
    assert run("pkg-config", "--modversion", "stet-core", env=found).strip() == version()
    assert orders_of(tmp_path / "orders", tmp_path) == ORDERS.format(version())
    assert run(tmp_path / "accounts").startswith("no store: ")


def test_the_program_of_the_page_is_what_the_page_says(prefix, tmp_path):
    page = (ROOT / "docs" / "library.md").read_text()
    program = next(block for block in re.findall(r"```cpp\n(.*?)```", page, re.DOTALL) if "int main" in block)
    (tmp_path / "orders.cpp").write_text(program)
    found = {**os.environ, "PKG_CONFIG_PATH": next(prefix.rglob("pkgconfig"))}
    line = re.search(r"^g\+\+ -std.*$", page, re.MULTILINE).group(0)
    run("sh", "-c", line, env=found, cwd=tmp_path)
    service = subprocess.Popen([tmp_path / "orders", tmp_path / "orders.db"], stdout=subprocess.PIPE, text=True)
    try:
        url = service.stdout.readline().strip()
        lines = re.findall(r"^curl -i http://127.0.0.1:8080(/orders.*?)\s+# (.*)$", page, re.MULTILINE)
        assert len(lines) == 4
        for command, wanted in lines:
            answer = run("sh", "-c", f"curl -s -i {url}{command}")
            for word in re.findall(r"^\d+|order \d|Idempotent-Replayed: true|key-\w+", wanted):
                assert word in answer, f"{command}\n{answer}"
    finally:
        service.kill()
        service.wait()


# What the fragments of the page take for granted.
AROUND_A_FRAGMENT = """
#include <sqlite3.h>
#include <thread>
#include <stet/http/message.hpp>
#include <stet/phases.hpp>
#include <stet/postgres/pool.hpp>
#include <stet/sqlite/pool.hpp>
#include <stet/sweeper.hpp>
void charge(const std::string& key, int amount);
void fragment(sqlite3* db, stet::Pool& pool, stet::Renewer& renewer, const std::string& account, const std::string& key,
              const std::string& payload, const stet::Intent& intent, stet::Session& session, const stet::Answer& answer,
              int amount) {{
{text}
}}
"""


def test_the_fragments_of_the_page_compile(prefix, tmp_path):
    page = (ROOT / "docs" / "library.md").read_text()
    fragments = [block for block in re.findall(r"```cpp\n(.*?)```", page, re.DOTALL) if "int main" not in block]
    assert len(fragments) == 4
    found = {**os.environ, "PKG_CONFIG_PATH": next(prefix.rglob("pkgconfig"))}
    flags = run("pkg-config", "--cflags", "stet-sqlite", "stet-postgres", "stet-http", env=found).split()
    for number, block in enumerate(fragments):
        text = re.sub(r"^#include.*$", "", block, flags=re.MULTILINE)
        text = re.sub(r"…begin;( rows;)?|commit…|…(?!\))", "", text).replace("(…)", "({})")
        (tmp_path / f"{number}.cpp").write_text(AROUND_A_FRAGMENT.replace("{text}", text))
        run("g++-12", "-std=c++20", "-fsyntax-only", *flags, tmp_path / f"{number}.cpp")


def test_the_installed_headers_ask_for_neither_boost_nor_a_database(prefix):
    for header in sorted(prefix.rglob("*.hpp")):
        if header.name in ("beast.hpp", "httplib.hpp"):
            continue
        text = header.read_text()
        assert not re.search(r"#include <(boost|sqlite3|libpq|coroutine)", text), header
        assert "co_await" not in text, header
