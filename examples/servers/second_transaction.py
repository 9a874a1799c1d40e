import threading
import time

from charges import WORK, REUSED, Charges, serve


class SecondTransaction(Charges):
    """Wrong: the key is stored in a second transaction after the effect. A crash in between, and the retry acts again.

    A lock in the process keeps simultaneous requests apart, so that this is all that is wrong with it.
    """

    def __init__(self, *args):
        super().__init__(*args)
        self.one_at_a_time = threading.Lock()

    def handle(self, request):
        with self.one_at_a_time:
            with self.connection() as db:
                kept = self.kept(db, request)
            if kept:
                fingerprint, answer = kept
                return answer if fingerprint == request.fingerprint else REUSED
            with self.transaction() as db:
                answer = self.act(db, request)
            time.sleep(3 * WORK)  # an audit log, a metric, a garbage collection
            with self.transaction() as db:
                self.keep(db, request, answer)
            return answer


if __name__ == "__main__":
    serve(SecondTransaction)
