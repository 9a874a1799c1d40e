from charges import IN_PROGRESS, REUSED, Charges, serve


class EternalLock(Charges):
    """Wrong: the key is locked before the work, and nobody frees it if the process dies at work."""

    def handle(self, request):
        with self.transaction() as db:
            kept = self.kept(db, request)
            if kept is None:
                db.execute(
                    "INSERT INTO idempotency (caller, route, key, fingerprint) VALUES (?, ?, ?, ?)",
                    (request.caller, request.route, request.key, request.fingerprint),
                )
        if kept:
            fingerprint, answer = kept
            return REUSED if fingerprint != request.fingerprint else answer or IN_PROGRESS
        with self.transaction() as db:
            answer = self.act(db, request)
            self.keep(db, request, answer)
            return answer


if __name__ == "__main__":
    serve(EternalLock)
