"""Tokens for tests: HS256 with the standard library, ES256 and RS256 by the openssl command."""

import base64
import hashlib
import hmac
import json
import subprocess


def b64(data):
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def _signed_part(header, claims):
    return f"{b64(json.dumps(header).encode())}.{b64(json.dumps(claims).encode())}"


def hs256(claims, secret, header=None):
    part = _signed_part(header or {"alg": "HS256", "typ": "JWT"}, claims)
    return f"{part}.{b64(hmac.new(secret.encode(), part.encode(), hashlib.sha256).digest())}"


def unsigned(claims):
    return _signed_part({"alg": "none"}, claims) + "."


def make_key(directory, kind):
    """(private key file, public key in PEM) for ES256 or RS256."""
    key = directory / f"{kind}.pem"
    options = {"ES256": ["EC", "-pkeyopt", "ec_paramgen_curve:P-256"], "RS256": ["RSA", "-pkeyopt", "rsa_keygen_bits:2048"]}
    subprocess.run(["openssl", "genpkey", "-algorithm", *options[kind], "-out", str(key)], check=True, capture_output=True)
    public = subprocess.run(["openssl", "pkey", "-in", str(key), "-pubout"], check=True, capture_output=True)
    return key, public.stdout.decode()


def _raw_ecdsa(der):
    """r and s as 64 bytes out of a DER signature (RFC 7518 section 3.4)."""
    assert der[0] == 0x30
    at = 2
    out = b""
    for _ in range(2):
        assert der[at] == 2
        size = der[at + 1]
        out += der[at + 2:at + 2 + size].lstrip(b"\0").rjust(32, b"\0")
        at += 2 + size
    return out


def signed_by_key(claims, key, kind):
    part = _signed_part({"alg": kind, "typ": "JWT"}, claims)
    done = subprocess.run(["openssl", "dgst", "-sha256", "-sign", str(key)], input=part.encode(), check=True, capture_output=True)
    signature = _raw_ecdsa(done.stdout) if kind == "ES256" else done.stdout
    return f"{part}.{b64(signature)}"
