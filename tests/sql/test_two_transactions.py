"""Every order in which two transactions can meet on one key, under each isolation level."""

import time

import psycopg2.extensions as levels
import pytest
from support.concurrently import background
from transactions import raises, waiting, waits

LEVELS = {"READ COMMITTED": levels.ISOLATION_LEVEL_READ_COMMITTED, "REPEATABLE READ": levels.ISOLATION_LEVEL_REPEATABLE_READ,
          "SERIALIZABLE": levels.ISOLATION_LEVEL_SERIALIZABLE}
STRICT = ("REPEATABLE READ", "SERIALIZABLE")


def committed_claim(begin, key, lease="30 s"):
    first = begin()
    verdict, token = first.claim(key, lease=lease)
    assert verdict == "claimed"
    first.commit()
    return token


# ---- claim and claim ----


def test_a_second_claim_waits_for_the_first_and_hears_its_answer(begin, key):
    a, b = begin(), begin()
    _, token = a.claim(key)
    second = waiting(b.answer_after_waiting, key)
    a.complete(token, b"of a")
    assert waits(second)
    a.commit()
    assert second.result() == ("replay", b"of a")


def test_a_second_claim_is_granted_when_the_first_rolls_back(begin, key):
    a, b = begin(), begin()
    a.claim(key)
    second = waiting(b.claim, key)
    a.rollback()
    verdict, token = second.result()
    assert verdict == "claimed"
    b.complete(token, b"of b")
    b.commit()
    assert a.answer(key) == ("replay", b"of b")


def test_a_second_claim_hears_in_progress_when_the_first_commits_without_an_answer(begin, key):
    a, b = begin(), begin()
    a.claim(key)
    second = waiting(b.claim, key)
    a.commit()
    assert second.result() == ("in_progress", None)


def test_who_only_asked_does_not_keep_the_owner_waiting(begin, key):
    owner, waited, asked = begin(), begin(), begin()
    _, token = owner.claim(key)
    second = waiting(waited.claim, key)
    owner.commit()
    assert second.result() == ("in_progress", None)
    assert asked.claim(key) == ("in_progress", None)
    # and their transactions go on
    owner.row("set lock_timeout = '2 s'")
    owner.complete(token)
    owner.commit()


def test_a_claim_that_must_not_wait_says_in_progress_at_once(begin, key):
    a, b = begin(), begin()
    a.claim(key)
    started = time.monotonic()
    assert b.claim(key, wait=False) == ("in_progress", None)
    assert b.claim(key, wait=False) == ("in_progress", None)
    assert time.monotonic() - started < 10
    a.rollback()
    assert b.claim(key, wait=False)[0] == "claimed"


def test_of_many_waiting_claims_one_is_granted(begin, key):
    a = begin()
    a.claim(key)
    claims = [waiting(begin().claim_and_complete, key) for _ in range(8)]
    assert waits(claims[0]) and all(claim.running() for claim in claims)
    a.rollback()
    verdicts = sorted(claim.result() for claim in claims)
    assert verdicts == ["claimed"] + ["replay"] * 7


def test_lock_timeout_bounds_the_wait(begin, key):
    a, b = begin(), begin()
    a.claim(key)
    b.row("set lock_timeout = '200 ms'")
    with raises("55P03"):
        b.claim(key)


@pytest.mark.parametrize("level", STRICT)
def test_a_stricter_transaction_that_began_before_the_winner_committed_has_to_begin_anew(begin, key, level):
    a, b = begin(), begin(isolation=LEVELS[level])
    b.row("select 1 from stet.meta")  # its snapshot
    _, token = a.claim(key)
    a.complete(token)
    a.commit()
    with raises("40001"):
        b.claim(key)
    b.rollback()
    assert b.answer(key) == ("replay", b"done")


@pytest.mark.parametrize("level", STRICT)
def test_a_stricter_transaction_that_waited_for_the_winner_has_to_begin_anew(begin, key, level):
    a, b = begin(), begin(isolation=LEVELS[level])
    a.claim(key)
    second = waiting(b.claim, key)
    a.commit()
    with raises("40001"):
        second.result()


@pytest.mark.parametrize("level", LEVELS)
def test_claim_and_completion_work_in_one_transaction_of_any_level(begin, key, level):
    a = begin(isolation=LEVELS[level])
    _, token = a.claim(key)
    a.complete(token)
    a.complete(token)
    a.commit()
    assert a.answer(key) == ("replay", b"done")


# ---- complete and complete ----


# A proxy repeats the request to a second instance, with the same token: each has rows of its own.
@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("meet", ["one after the other", "at once"])
def test_one_token_lets_one_transaction_commit_even_with_the_same_answer(begin, key, level, meet):
    token = committed_claim(begin, key)
    a, b = begin(), begin(isolation=LEVELS[level])
    a.complete(token, b"same")
    if meet == "at once":
        second = waiting(b.complete, token, b"same")
        a.commit()
        with raises("STET1" if level == "READ COMMITTED" else "40001"):
            second.result()
        b.rollback()
    else:
        a.commit()
    with raises("STET1"):
        b.complete(token, b"same")
    b.rollback()
    assert a.answer(key) == ("replay", b"same")


def test_a_completion_that_is_rolled_back_to_a_savepoint_has_not_happened(begin, key):
    token = committed_claim(begin, key)
    a, b = begin(), begin()
    a.row("savepoint s")
    a.complete(token, b"first")
    a.row("rollback to savepoint s")
    a.commit()
    assert b.answer(key) == ("in_progress", None)
    b.rollback()
    b.complete(token, b"second")
    b.commit()
    assert a.answer(key) == ("replay", b"second")


# ---- complete and take_over ----


def test_a_take_over_waits_for_an_open_completion_and_loses(begin, key):
    old = committed_claim(begin, key, lease="1 ms")
    owner, other = begin(), begin()
    owner.complete(old)
    taking = waiting(other.take_over, old)
    owner.commit()
    with raises("STET1"):
        taking.result()
    assert owner.answer(key) == ("replay", b"done")


def test_a_take_over_wins_when_the_completion_rolls_back(begin, key):
    old = committed_claim(begin, key, lease="1 ms")
    owner, other = begin(), begin()
    owner.complete(old)
    taking = waiting(other.take_over, old)
    owner.rollback()
    new = taking.result()
    other.commit()
    with raises("STET1"):
        owner.complete(old)
    owner.rollback()
    owner.complete(new)
    owner.commit()


# The zombie: its rows and its answer come too late, and vanish.
def test_a_completion_behind_an_open_take_over_is_fenced_with_its_rows(begin, key, on, database):
    on.execute("create table if not exists rows_of_services (key text)", database=database)
    old = committed_claim(begin, key, lease="1 ms")
    zombie, other = begin(), begin()
    zombie.row("insert into rows_of_services values (%s)", key + " zombie")
    new = other.take_over(old)
    late = waiting(zombie.complete, old)
    other.row("insert into rows_of_services values (%s)", key + " right")
    other.complete(new, b"right")
    other.commit()
    with raises("STET1"):
        late.result()
    zombie.commit()  # of an aborted transaction: a rollback
    rows = on.query("select key from rows_of_services where key like %s", (key + "%",), database)
    assert rows == [(key + " right",)]
    assert other.answer(key) == ("replay", b"right")


def test_a_completion_goes_through_when_the_take_over_rolls_back(begin, key):
    old = committed_claim(begin, key, lease="1 ms")
    owner, other = begin(), begin()
    other.take_over(old)
    late = waiting(owner.complete, old)
    other.rollback()
    late.result()
    owner.commit()
    assert owner.answer(key) == ("replay", b"done")


@pytest.mark.parametrize("level", STRICT)
def test_a_stricter_completion_after_a_take_over_has_to_begin_anew(begin, key, level):
    old = committed_claim(begin, key, lease="1 ms")
    zombie, other = begin(isolation=LEVELS[level]), begin()
    zombie.row("select 1 from stet.meta")
    other.take_over(old)
    other.commit()
    with raises("40001"):
        zombie.complete(old)
    zombie.rollback()
    with raises("STET1"):
        zombie.complete(old)


def test_of_many_take_overs_of_one_lapsed_attempt_one_wins(begin, key):
    old = committed_claim(begin, key, lease="1 ms")
    others = [begin() for _ in range(16)]
    taking = [background(other.take_over_at_once, old) for other in others]
    assert sorted(one.result() for one in taking) == ["STET1"] * 15 + ["taken"]


# ---- fence, release, renew ----


def test_a_fence_holds_the_operation_until_its_transaction_ends(begin, key):
    old = committed_claim(begin, key, lease="1 ms")
    service, other = begin(), begin()
    service.fence(old)
    taking = waiting(other.take_over, old)
    service.commit()
    new = taking.result()
    other.commit()
    with raises("STET1"):
        service.fence(old)
    service.rollback()
    service.fence(new)


def test_an_open_release_frees_the_key_when_it_commits(begin, key):
    token = committed_claim(begin, key)
    owner, other = begin(), begin()
    owner.release(token)
    assert other.claim(key) == ("in_progress", None)
    assert other.claim(key, wait=False) == ("in_progress", None)
    owner.commit()
    assert other.claim(key)[0] == "claimed"


def test_a_release_that_rolls_back_frees_nothing(begin, key):
    token = committed_claim(begin, key)
    owner, other = begin(), begin()
    owner.release(token)
    owner.rollback()
    assert other.claim(key) == ("in_progress", None)
    owner.complete(token)
    owner.commit()


def test_a_key_that_is_released_and_claimed_again_in_one_transaction_is_nobody_elses(begin, key):
    token = committed_claim(begin, key)
    owner, other = begin(), begin()
    owner.release(token)
    verdict, again = owner.claim(key)
    assert verdict == "claimed"
    assert other.claim(key, wait=False) == ("in_progress", None)
    owner.complete(again)
    owner.commit()
    assert other.answer(key) == ("replay", b"done")


def test_a_renewal_does_not_wait_for_an_open_completion(begin, key):
    token = committed_claim(begin, key, lease="1 s")
    service, gateway = begin(), begin()
    service.complete(token)
    verdict = gateway.value("select verdict from stet.execute(o_what => '{2}', o_scope => '{s}', o_key => array[%s]::bytea[], "
                            "o_nonce => array[split_part(%s, '.', 3)]::uuid[], o_attempt => '{1}', o_lease_ms => '{60000}')",
                            key, token)
    gateway.commit()
    assert verdict == 8
    service.rollback()
    assert gateway.answer(key) == ("in_progress", None)


# ---- sweep ----

CLAIM = ("select verdict from stet.execute(c_scope => '{s}', c_key => array[%s]::text[]::bytea[], c_nonce => array[gen_random_uuid()], "
         "c_fingerprint => '{f}', c_recipe => array[''], c_method => array[''], c_path => '{/}', c_scope_rule => array[''], "
         "c_on_unknown => '{0}', c_retention_ms => '{1000}', c_tombstone_ms => '{1}', c_lease_ms => '{1000}')")


# One that pg_cron or a person runs, in a transaction that stays open.
@pytest.mark.parametrize("left_by", ["a release", "a completion"])
def test_a_sweep_that_is_left_open_keeps_no_gateway_waiting(begin, key, left_by):
    service, sweep, gateway, other = begin(), begin(), begin(), begin()
    token = committed_claim(begin, key, lease="1 ms")
    if left_by == "a release":
        service.row("select stet.release(%s)", token)
    else:
        service.complete(token)
    service.commit()
    sweep.row("select * from stet.sweep(1000)")
    gateway.row("set statement_timeout = '10 s'")
    assert gateway.value(CLAIM, key) in (10, 4)  # "locked", or what stands there
    assert gateway.value(CLAIM, key + "-another") == 1
    gateway.commit()
    sweep.commit()
    assert other.value(CLAIM, key) == (1 if left_by == "a release" else 4)


# ---- receive ----


@pytest.mark.parametrize("end, second_is_first", [("commit", False), ("rollback", True)])
def test_a_second_receipt_of_an_event_waits_for_the_first(begin, key, end, second_is_first):
    a, b = begin(), begin()
    assert a.value("select stet.receive('stripe', %s)", key) is True
    second = waiting(b.value, "select stet.receive('stripe', %s)", key)
    getattr(a, end)()
    assert second.result() is second_is_first


def test_of_two_receipts_in_stricter_transactions_one_has_to_begin_anew(begin, key):
    a, b = begin(), begin(isolation=LEVELS["REPEATABLE READ"])
    b.row("select 1 from stet.meta")
    a.value("select stet.receive('stripe', %s)", key)
    a.commit()
    with raises("40001"):
        b.value("select stet.receive('stripe', %s)", key)
