"""The campaign's own oracle: histories with one thing wrong in each are found, and a clean one is not."""

import pytest
from faults.campaign import Campaign, Operation, Try
from faults.oracle_upstream import Effect

BODY = b'{"response": 1}'
SHOWN = {"replayed": 1, "unknown": 1, "kills in mid-operation": 1, "not-executed": 1, "in-progress": 1, "kills": 9}


class FakeAnswer:
    def __init__(self, status, outcome, body=BODY, problem=None, retryable=False):
        self.status, self.outcome, self.body, self.problem, self.retryable = status, outcome, body, problem, retryable

    def json(self):
        return {"retryable": self.retryable}


class FakeUpstream:
    def __init__(self):
        self.effects, self.said, self.arrivals = {}, {}, {}


def history(*tries, effects=1, effect_at=1.5, said=((201, BODY),), policy="fail"):
    """A campaign with one operation. A try is (began, ended, answer or None) or (…, False) for another body."""
    campaign = Campaign(1, policy, seed=1)
    campaign.upstream = FakeUpstream()
    operation = Operation("Bearer alice", "k", "/charges")
    for began, ended, answer, *same in tries:
        operation.tries.append(Try(began, ended, answer, same[0] if same else True))
    campaign.operations.append(operation)
    made = []
    for n in range(effects):
        effect = Effect(1, (201, BODY if n == 0 else b"other"))
        effect.at = effect_at
        made.append(effect)
    campaign.upstream.effects[operation.identity] = made
    campaign.upstream.said[operation.identity] = set(said)
    campaign.counts.update(SHOWN)
    campaign.check()
    return campaign.mistakes


FIRST = (1, 2, FakeAnswer(201, "completed"))
REPLAY = (3, 4, FakeAnswer(201, "replayed"))
UNKNOWN = FakeAnswer(502, "unknown", b"p", "outcome-unknown")
ASK_AGAIN = FakeAnswer(502, "unknown", b"p", "outcome-unknown", retryable=True)
BUSY = FakeAnswer(409, "in-progress", b"p", "in-progress")
REUSED = FakeAnswer(422, "completed", b"p", "key-reused")


def test_a_clean_history_is_clean():
    assert history(FIRST, (1.2, 1.8, BUSY), REPLAY, (5, 6, REUSED, False), (7, 8, None)) == []
    assert history((1, 2, UNKNOWN), (3, 4, UNKNOWN)) == []
    assert history((1, 1.2, FakeAnswer(429, "not-executed", b"no")), (1.3, 2, FakeAnswer(201, "completed")), REPLAY,
                   said=((201, BODY), (429, b"no"))) == []
    assert history((1, 2, ASK_AGAIN), REPLAY, policy="join") == []


WRONG = {
    "two effects": dict(tries=(FIRST, REPLAY), effects=2),
    "two effects although nobody was answered": dict(tries=((1, 2, None),), effects=2),
    "a changed replay": dict(tries=(FIRST, (3, 4, FakeAnswer(201, "replayed", b"other"))), said=((201, BODY), (201, b"other"))),
    "a changed status": dict(tries=(FIRST, (3, 4, FakeAnswer(200, "replayed"))), said=((201, BODY), (200, BODY))),
    "an answer the upstream never said": dict(tries=(FIRST,), said=()),
    "an answer without an effect": dict(tries=(FIRST,), effects=0),
    "an acknowledged answer that is lost as unknown": dict(tries=(FIRST, (3, 4, UNKNOWN))),
    "an acknowledged answer that is lost as in progress": dict(tries=(FIRST, (3, 4, BUSY))),
    "an acknowledged answer that ran again": dict(tries=(FIRST, (3, 4, FakeAnswer(201, "completed")))),
    "another body that is let in": dict(tries=(FIRST, (3, 4, FakeAnswer(201, "replayed"), False))),
    "another body that is in progress": dict(tries=(FIRST, (3, 4, BUSY, False))),
    "not-executed after the effect": dict(tries=((3, 4, FakeAnswer(429, "not-executed", b"no")),), said=((429, b"no"),)),
    "not-executed of the very effect": dict(tries=((1, 2, FakeAnswer(201, "not-executed")),)),
    "completed without an effect": dict(tries=((1, 2, FakeAnswer(409, "completed", b"p", "answer-not-kept")),), effects=0),
    "unknown for good on a joining route": dict(tries=((1, 2, UNKNOWN), REPLAY), policy="join"),
    "unknown after its answer": dict(tries=(FIRST, (2.5, 3, UNKNOWN), (4, 5, FakeAnswer(201, "replayed")))),
}


@pytest.mark.parametrize("what", WRONG)
def test_it_finds(what):
    case = dict(WRONG[what])
    tries = case.pop("tries")
    assert history(*tries, **case)


@pytest.mark.parametrize("missing", ["replayed", "unknown", "kills in mid-operation", "not-executed", "in-progress", "kills"])
def test_a_campaign_that_showed_nothing_fails(missing):
    campaign = Campaign(30, "fail", seed=1)
    campaign.upstream = FakeUpstream()
    campaign.counts.update(SHOWN)
    campaign.check()
    assert campaign.mistakes == []
    del campaign.counts[missing]
    campaign.check()
    assert any("vacuous" in m for m in campaign.mistakes)
