"""Who may see which answer: the default scope, the refusals to guess, and every scope rule (docs/http.md, "The scope")."""

import time

import pytest
from support import jwt
from support.stores import about_one_process
from support.upstream import wait_until

ALICE = {"Authorization": "Bearer alice"}
SECRET = "a-secret-of-thirty-two-characters"


def outcome(gateway, headers, key, **more):
    answer = gateway.client(headers).post(key=key, **more)
    return answer.outcome if answer.status < 300 else answer.problem or answer.status


def expect_undefined(answer):
    assert answer.status == 400 and answer.problem == "scope-undefined", answer
    document = answer.json()
    assert "scope" in document["detail"]
    assert document["retryable"] is False and document["new_key_safe"] is False


# ---- the default ----


@pytest.mark.parametrize("other", [
    {"Authorization": "Bearer mallory"}, {"Authorization": "bearer alice"}, {"X-Api-Key": "Bearer alice"}, {"Api-Key": "k"},
    {"Authorization": "Bearer alice", "X-Api-Key": "k"}, {},
])
def test_another_callers_key_is_another_operation(gateway, upstream, key, other):
    # jox-sm/deepslate-rpg#104: a second user registered somebody's key first and blocked them, or read their answer.
    mine = gateway.client(ALICE).post(key=key)
    theirs = gateway.client(other).post(key=key)
    assert mine.outcome == theirs.outcome == "completed"
    assert mine.body != theirs.body
    assert mine.header("Stet-Operation") != theirs.header("Stet-Operation")
    assert gateway.client(ALICE).post(key=key).body == mine.body
    assert len(upstream.seen) == 2


@about_one_process("a process's log")
def test_callers_without_credentials_share_one_scope_and_the_log_says_so_once(gateway, upstream, key):
    for _ in range(3):
        gateway.client().post(key=key)
    assert len(upstream.seen) == 1
    wait_until(lambda: len(gateway.events("request")) == 3)
    warnings = [e for e in gateway.log() if e.get("level") == "warning" and "scope" in str(e)]
    assert len(warnings) == 1, warnings


@pytest.mark.parametrize("headers", [
    {"Cookie": "session=1"},
    {"Cookie": "_ga=GA1.2.3"},
    {"Cookie": "a=1", **ALICE},
    {"X-Auth-Token": "t"},
    {"X-Session-Id": "s"},
    {"X-Client-Secret": "s"},
    {"X-My-Authority": "a"},
    {"X-ApiKey": "k"},
    {"My-Api-Key": "k"},
    {"x-access-TOKEN": "t"},
])
def test_a_keyed_request_whose_scope_would_be_a_guess_is_refused(gateway, upstream, key, headers):
    if "Authorization" in headers:
        headers = dict(headers)
    expect_undefined(gateway.client(headers).post(key=key))
    assert upstream.seen == []


def test_the_same_without_a_key_passes(gateway, upstream):
    assert gateway.client({"Cookie": "session=1"}).post().status == 201


def test_a_token_header_beside_credentials_is_no_guess(gateway, upstream, key):
    headers = {**ALICE, "X-Csrf-Token": "changes"}
    assert gateway.client(headers).post(key=key).outcome == "completed"
    headers["X-Csrf-Token"] = "changed"
    assert gateway.client(headers).post(key=key).outcome == "replayed"


def test_a_bearer_token_of_the_shape_of_a_jwt_is_refused_without_a_rule(gateway, upstream, key):
    token = jwt.hs256({"sub": "alice"}, SECRET)
    expect_undefined(gateway.client({"Authorization": f"Bearer {token}"}).post(key=key))
    assert upstream.seen == []


# ---- credentials, none ----


def test_credentials_on_purpose_accept_what_would_be_a_guess(start_gateway, upstream, key):
    gateway = start_gateway('[defaults]\nscope = ["credentials"]\n')
    token = jwt.hs256({"sub": "alice"}, SECRET)
    headers = {"Authorization": f"Bearer {token}", "Cookie": "_ga=1"}
    assert outcome(gateway, headers, key) == "completed"
    assert outcome(gateway, {**headers, "Cookie": "_ga=2"}, key) == "replayed"
    assert outcome(gateway, ALICE, key) == "completed"


def test_none_is_one_scope_for_everybody(start_gateway, upstream, key):
    gateway = start_gateway('[defaults]\nscope = ["none"]\n')
    assert outcome(gateway, ALICE, key) == "completed"
    assert outcome(gateway, {"Authorization": "Bearer bob"}, key) == "replayed"
    assert outcome(gateway, {"Cookie": "x=1"}, key) == "replayed"
    assert len(upstream.seen) == 1


# ---- header, cookie ----


def test_a_header_names_the_scope(start_gateway, upstream, key):
    gateway = start_gateway('[defaults]\nscope = ["header:X-Account"]\n')
    assert outcome(gateway, {"X-Account": "a1"}, key) == "completed"
    assert outcome(gateway, {"X-Account": "a1", **ALICE}, key) == "replayed"
    assert outcome(gateway, {"x-account": "a1"}, key) == "replayed"
    assert outcome(gateway, {"X-Account": "a2"}, key) == "completed"


@pytest.mark.parametrize("headers", [[], [("X-Account", "")], [("X-Account", "  ")], [("X-Account", "a"), ("X-Account", "a")],
                                     [("X-Account", "a"), ("x-account", "b")]])
def test_a_named_header_that_is_absent_empty_or_repeated_is_refused(start_gateway, upstream, key, headers):
    gateway = start_gateway('[defaults]\nscope = ["header:X-Account"]\n')
    expect_undefined(gateway.client(headers).post(key=key))
    assert upstream.seen == []


def test_a_cookie_names_the_scope(start_gateway, upstream, key):
    gateway = start_gateway('[defaults]\nscope = ["cookie:session_id"]\n')
    assert outcome(gateway, {"Cookie": "a=1; session_id=s1; b=2"}, key) == "completed"
    assert outcome(gateway, {"Cookie": "session_id=s1"}, key) == "replayed"
    assert outcome(gateway, {"Cookie": "session_id=s2"}, key) == "completed"


@pytest.mark.parametrize("cookie", ["a=1", "session_id=", "session_id=a; session_id=b", "session_id=a; x=1; session_id=a",
                                    "Session_Id=a", "xsession_id=a"])
def test_a_named_cookie_that_is_absent_empty_or_repeated_is_refused(start_gateway, upstream, key, cookie):
    gateway = start_gateway('[defaults]\nscope = ["cookie:session_id"]\n')
    expect_undefined(gateway.client({"Cookie": cookie}).post(key=key))
    assert upstream.seen == []


def test_several_parts_are_combined_and_none_of_them_runs_into_the_next(start_gateway, upstream, key):
    gateway = start_gateway('[defaults]\nscope = ["header:X-A", "header:X-B"]\n')
    assert outcome(gateway, {"X-A": "ab", "X-B": "c"}, key) == "completed"
    assert outcome(gateway, {"X-A": "a", "X-B": "bc"}, key) == "completed"
    assert outcome(gateway, {"X-A": "ab", "X-B": "c"}, key) == "replayed"
    expect_undefined(gateway.client({"X-A": "ab"}).post(key=key))


def test_a_routes_scope_is_its_own(start_gateway, upstream, key):
    gateway = start_gateway('[[route]]\nmatch = "POST /teams"\nscope = ["header:X-Team"]\n')
    assert gateway.client(ALICE).post("/charges", key=key).outcome == "completed"
    expect_undefined(gateway.client(ALICE).post("/teams", key=key))


# ---- jwt ----


@pytest.fixture
def hs(start_gateway):
    return start_gateway('jwt.secret = "env:JWT_SECRET"\njwt.issuer = "us"\njwt.audience = "them"\n'
                         '[defaults]\nscope = ["jwt:sub"]\n', environment={"JWT_SECRET": SECRET})


def claims(**more):
    return {"sub": "alice", "iss": "us", "aud": "them", "exp": int(time.time()) + 600, **more}


def bearer(token):
    return {"Authorization": f"Bearer {token}"}


def test_a_refreshed_token_stays_in_the_scope_of_its_subject(hs, upstream, key):
    assert outcome(hs, bearer(jwt.hs256(claims(), SECRET)), key) == "completed"
    assert outcome(hs, bearer(jwt.hs256(claims(exp=int(time.time()) + 999, jti="2"), SECRET)), key) == "replayed"
    assert outcome(hs, bearer(jwt.hs256(claims(aud=["x", "them"]), SECRET)), key) == "replayed"
    assert outcome(hs, bearer(jwt.hs256(claims(sub="bob"), SECRET)), key) == "completed"
    assert len(upstream.seen) == 2


BAD_TOKENS = {
    "expired": lambda: jwt.hs256(claims(exp=int(time.time()) - 120), SECRET),
    "not valid yet": lambda: jwt.hs256(claims(nbf=int(time.time()) + 600), SECRET),
    "signed with another secret": lambda: jwt.hs256(claims(), SECRET + "x"),
    "unsigned": lambda: jwt.unsigned(claims()),
    "from another issuer": lambda: jwt.hs256(claims(iss="evil"), SECRET),
    "for another audience": lambda: jwt.hs256(claims(aud="others"), SECRET),
    "of another algorithm": lambda: jwt.hs256(claims(), SECRET, {"alg": "HS512"}),
    "cut": lambda: jwt.hs256(claims(), SECRET)[:-4],
    "changed": lambda: jwt.hs256(claims(), SECRET).replace(".", ".e", 1),
    "none at all": lambda: "alice",
}


@pytest.mark.parametrize("what", BAD_TOKENS)
def test_a_bad_token_is_401(hs, upstream, key, what):
    answer = hs.client(bearer(BAD_TOKENS[what]())).post(key=key)
    assert answer.status == 401 and answer.problem == "credentials-invalid", answer
    assert answer.json()["retryable"] is False and answer.json()["new_key_safe"] is False
    assert upstream.seen == []


@pytest.mark.parametrize("subject", [None, "", 17, ["a"]])
def test_a_claim_that_is_absent_or_no_text_selects_no_scope(hs, upstream, key, subject):
    token_claims = claims(sub=subject)
    if subject is None:
        del token_claims["sub"]
    answer = hs.client(bearer(jwt.hs256(token_claims, SECRET))).post(key=key)
    if subject == 17:  # a whole number names a subject as well as a text does
        assert answer.status in (201, 400)
        return
    assert answer.status == 400 and answer.problem == "scope-undefined", answer
    assert upstream.seen == []


def test_no_token_at_all_is_refused(hs, upstream, key):
    answer = hs.client().post(key=key)
    assert answer.problem in ("scope-undefined", "credentials-invalid")
    assert upstream.seen == []


@pytest.mark.parametrize("kind", ["ES256", "RS256"])
def test_public_keys_verify(start_gateway, tmp_path, upstream, key, kind):
    private, public = jwt.make_key(tmp_path, kind)
    file = tmp_path / "public.pem"
    file.write_text(public)
    gateway = start_gateway(f'jwt.public_key = "file:{file}"\n[defaults]\nscope = ["jwt:sub"]\n')
    good = jwt.signed_by_key(claims(), private, kind)
    assert outcome(gateway, bearer(good), key) == "completed"
    assert outcome(gateway, bearer(jwt.signed_by_key(claims(jti=2), private, kind)), key) == "replayed"
    # The public key as an HMAC secret: the classic confusion of algorithms.
    forged = jwt.hs256(claims(), public)
    assert gateway.client(bearer(forged)).post(key=key).status == 401
    assert len(upstream.seen) == 1


def test_a_replay_is_checked_like_a_first_attempt(hs, upstream, key):
    assert outcome(hs, bearer(jwt.hs256(claims(), SECRET)), key) == "completed"
    expired = jwt.hs256(claims(exp=int(time.time()) - 120), SECRET)
    assert hs.client(bearer(expired)).post(key=key).status == 401


# ---- auth ----


@pytest.fixture
def auth(make_upstream):
    """An authorization server: `principal` per bearer token; anything else is 403."""
    principals = {"Bearer alice": "p1", "Bearer alice-new": "p1", "Bearer bob": "p2"}

    def decide(request, wire):
        principal = principals.get(request.header("Authorization"))
        if principal is None:
            wire.answer(403, {"Content-Type": "text/plain", "WWW-Authenticate": "Bearer"}, b"not you")
        else:
            wire.answer(204, {"X-Principal": principal})

    server = make_upstream(decide)
    server.principals = principals
    return server


@pytest.fixture
def guarded(start_gateway, auth):
    return start_gateway(f'auth.url = "{auth.url}/check"\n[defaults]\nscope = ["auth"]\n')


def test_the_auth_subrequest_names_the_scope(guarded, auth, upstream, key):
    assert outcome(guarded, {"Authorization": "Bearer alice"}, key) == "completed"
    assert outcome(guarded, {"Authorization": "Bearer alice-new"}, key) == "replayed"
    assert outcome(guarded, {"Authorization": "Bearer bob"}, key) == "completed"
    assert len(upstream.seen) == 2
    assert all(r.path == "/check" for r in auth.seen)
    assert len(auth.seen) == 3


def test_a_revoked_grant_is_refused_before_a_replay(guarded, auth, upstream, key):
    # margince#5315: a replay after the grant was revoked.
    assert outcome(guarded, {"Authorization": "Bearer alice"}, key) == "completed"
    del auth.principals["Bearer alice"]
    answer = guarded.client({"Authorization": "Bearer alice"}).post(key=key)
    assert (answer.status, answer.body) == (403, b"not you")
    assert answer.header("WWW-Authenticate") == "Bearer"
    assert len(upstream.seen) == 1


def test_an_auth_server_that_is_gone_is_503(guarded, auth, upstream, key):
    auth.stop()
    answer = guarded.client(ALICE).post(key=key)
    assert answer.status == 503 and answer.problem == "auth-unavailable"
    assert answer.json()["retryable"] is True and answer.json()["new_key_safe"] is False
    assert upstream.seen == []


def test_a_2xx_without_a_principal_names_no_scope(start_gateway, make_upstream, upstream, key):
    server = make_upstream(lambda request, wire: wire.answer(200))
    gateway = start_gateway(f'auth.url = "{server.url}"\n[defaults]\nscope = ["auth"]\n')
    answer = gateway.client(ALICE).post(key=key)
    assert answer.status in (400, 503) and answer.problem in ("scope-undefined", "auth-unavailable")
    assert upstream.seen == []


def test_a_clients_own_x_principal_is_worth_nothing(guarded, auth, upstream, key):
    assert outcome(guarded, {"Authorization": "Bearer alice"}, key) == "completed"
    answer = guarded.client({"Authorization": "Bearer bob", "X-Principal": "p1"}).post(key=key)
    assert answer.outcome == "completed"
    assert len(upstream.seen) == 2


def test_repeated_credential_headers_do_not_run_into_each_other(gateway, upstream, key):
    sent = [[("X-Api-Key", "ab")], [("X-Api-Key", "a"), ("X-Api-Key", "b")], [("X-Api-Key", "a, b")],
            [("X-Api-Key", "a"), ("Api-Key", "b")], [("Api-Key", "ab")], [("X-Api-Key", "b"), ("X-Api-Key", "a")]]
    outcomes = [gateway.client(headers).post(key=key) for headers in sent]
    bodies = [a.body for a in outcomes if a.status == 201]
    assert len(set(bodies)) == len(bodies), "two callers share a scope"
    for answer in outcomes:
        assert answer.outcome == "completed" or answer.problem == "scope-undefined", answer
