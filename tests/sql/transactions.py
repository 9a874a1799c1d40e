"""Two or more transactions, step by step."""

import contextlib
import time

import psycopg2
from support.concurrently import background
from support.postgres import PORT
from support.upstream import wait_until


class Transaction:
    """One connection; its statements run in a transaction until commit or rollback."""

    def __init__(self, on, database, user="postgres", isolation=None):
        self.on = on
        self.connection = psycopg2.connect(host=str(on.directory), port=PORT, dbname=database, user=user)
        if isolation:
            self.connection.set_session(isolation_level=isolation)

    def row(self, sql, *parameters):
        with self.connection.cursor() as cursor:
            cursor.execute(sql, parameters or None)
            return cursor.fetchone() if cursor.description else None

    def value(self, sql, *parameters):
        return self.row(sql, *parameters)[0]

    def claim(self, key, wait=True, lease="30 s", fingerprint=b"f", scope="s"):
        """(verdict, token)"""
        return self.row("select verdict, token from stet.claim(%s, %s, %s, %s, %s)", scope, key, fingerprint, lease, wait)

    def complete(self, token, body=b"done", status=200):
        self.row("select stet.complete(%s, %s, '[]', %s)", token, status, body)

    def answer(self, key, scope="s"):
        """(verdict, body)"""
        verdict, body = self.row("select verdict, body from stet.claim(%s, %s, 'f', wait => false)", scope, key)
        return verdict, None if body is None else bytes(body)

    def answer_after_waiting(self, key, scope="s"):
        verdict, body = self.row("select verdict, body from stet.claim(%s, %s, 'f')", scope, key)
        return verdict, None if body is None else bytes(body)

    def release(self, token):
        self.row("select stet.release(%s)", token)

    def fence(self, token):
        self.row("select stet.fence(%s)", token)

    def take_over(self, token):
        """The new token."""
        return self.value("select stet.take_over(%s)", token)

    def claim_and_complete(self, key):
        """The verdict of the claim."""
        verdict, token = self.claim(key)
        if verdict == "claimed":
            self.complete(token)
        self.commit()
        return verdict

    def take_over_at_once(self, token):
        """"taken", or the SQLSTATE."""
        try:
            self.take_over(token)
            self.commit()
        except psycopg2.Error as error:
            return error.pgcode
        return "taken"

    def commit(self):
        self.connection.commit()

    def rollback(self):
        self.connection.rollback()

    def is_blocked(self):
        """Whether its statement waits for a lock of somebody else's."""
        return self.on.value("select cardinality(pg_blocking_pids(%s)) > 0", (self.connection.info.backend_pid,))

    def end(self):
        self.connection.close()


def waiting(step, *args):
    """A transaction's step in the background, which has come to wait for somebody else's transaction."""
    call = background(step, *args)
    call.transaction = step.__self__
    wait_until(lambda: call.transaction.is_blocked() or not call.running())
    assert call.running(), f"it waited for nobody: {call.result()}"
    return call


def waits(call):
    """Whether it still waits after a while in which anything that need not wait is done."""
    time.sleep(0.3)
    return call.transaction.is_blocked()


@contextlib.contextmanager
def raises(sqlstate):
    try:
        yield
    except psycopg2.Error as error:
        assert error.pgcode == sqlstate, f"{error.pgcode}: {error}"
    else:
        raise AssertionError(f"nothing failed; {sqlstate} was meant")
