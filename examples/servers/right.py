from charges import REUSED, Charges, serve


class Right(Charges):
    """Right: the key, the effect and the answer in one transaction."""

    def handle(self, request):
        with self.transaction() as db:
            kept = self.kept(db, request)
            if kept:
                fingerprint, answer = kept
                return answer if fingerprint == request.fingerprint else REUSED
            answer = self.act(db, request)
            self.keep(db, request, answer)
            return answer


if __name__ == "__main__":
    serve(Right)
