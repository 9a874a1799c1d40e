from charges import REUSED, Charges, serve


class HangUp(Charges):
    """Wrong: if the client has hung up when the work is done, the answer is dropped instead of kept."""

    def handle(self, request):
        with self.transaction() as db:
            kept = self.kept(db, request)
            if kept:
                fingerprint, answer = kept
                return answer if fingerprint == request.fingerprint else REUSED
            answer = self.act(db, request)
            if not request.hung_up():
                self.keep(db, request, answer)
            return answer


if __name__ == "__main__":
    serve(HangUp)
