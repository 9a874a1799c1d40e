"""The cases of tests/wire as bytes: requests.json and answers.json (what they mean: tests/wire/cases.hpp)."""

import json
import pathlib

import pytest

DIRECTORY = pathlib.Path(__file__).resolve().parents[1] / "wire"


def _bytes(pieces):
    return b"".join(p.encode("latin-1") if isinstance(p, str) else p["repeat"].encode("latin-1") * p["times"] for p in pieces)


def load(name):
    cases = json.loads((DIRECTORY / name).read_text())
    for case in cases:
        case["bytes"] = _bytes(case["bytes"])
        if "body" in case:
            case["body"] = case["body"].encode("latin-1")
        for request in case.get("requests", []):
            if request.get("body") is not None:
                request["body"] = request["body"].encode("latin-1")
    return cases


def named(cases):
    """As parameters of a test that are called what the cases are called."""
    return [pytest.param(c, id=c["name"]) for c in cases]


def cut(data, at):
    """`data` in pieces that begin at the given positions."""
    marks = [0, *sorted({p for p in at if 0 < p < len(data)}), len(data)]
    return [data[a:b] for a, b in zip(marks, marks[1:])]


def interesting_cuts(data):
    """In the middle of the first line, inside the end of the head, one byte before the end."""
    head = data.find(b"\r\n\r\n")
    return [5, max(1, head + 1), head + 3, len(data) - 1]
