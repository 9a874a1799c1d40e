"""Which checks fail on which of examples/servers: each classic fault is found, the right server passes everything, and
three runs say the same."""

import pathlib

import pytest
from support.probing import SERVERS, probe_server

RETRIES = {"repeat", "fresh-connection", "at-once", "lost-answer", "impatient", "lost-request", "same-meaning", "kill"}

# server: (fails, warns)
EXPECTED = {
    "right": (set(), set()),
    "no_keys": (RETRIES | {"other-payload", "key-forms"}, {"no-key"}),
    "check_then_act": ({"at-once", "impatient", "kill"}, set()),
    "second_transaction": ({"kill"}, set()),
    "bare_replay": (RETRIES, {"key-forms"}),
    "any_payload": ({"other-payload"}, set()),
    "global_key": ({"other-caller"}, set()),
    "hashed_parameters": ({"other-payload", "new-intent"}, set()),
    "eternal_lock": ({"kill"}, set()),
    "hang_up": ({"impatient"}, set()),
    "pinned_503": ({"failed-first"}, set()),
    "mangled_binary": (RETRIES - {"lost-answer", "impatient"}, {"key-forms"}),
}
NEEDS_PROVIDER = {"pinned_503"}


def test_every_server_is_in_the_matrix():
    assert {path.stem for path in pathlib.Path(SERVERS).glob("*.py")} - {"charges"} == set(EXPECTED)


@pytest.mark.parametrize("server", EXPECTED)
def test_the_probe_finds_what_is_wrong_and_nothing_else(server, tmp_path):
    fails, warns = EXPECTED[server]
    # A check ends with the first kill that shows the fault: on a slow machine that takes more of them.
    rounds = 40 if "kill" in fails else 8
    for run in range(3):
        verdict = probe_server(server, tmp_path, provider=server in NEEDS_PROVIDER, rounds=rounds)
        assert verdict.failed == fails, f"run {run}: {verdict}"
        assert verdict.named("warn") == warns, f"run {run}: {verdict}"
        assert verdict.named("skip") == set(), f"run {run}: {verdict}"
        assert verdict.exit_code == (1 if fails else 0)
        for name in fails:
            assert any(line.startswith(("curl -i -X POST", "for i in")) for line in verdict.checks[name]["reproduce"]), name


def test_the_right_server_is_right_with_a_provider_too(tmp_path):
    verdict = probe_server("right", tmp_path, provider=True)
    assert verdict.exit_code == 0 and not verdict.named("warn"), verdict
