from charges import REUSED, Charges, ProviderDown, json_answer, serve


class Pinned503(Charges):
    """Wrong: a passing 503 is kept like an answer, and every retry gets it. Needs --provider."""

    def handle(self, request):
        with self.transaction() as db:
            kept = self.kept(db, request)
            if kept:
                fingerprint, answer = kept
                return answer if fingerprint == request.fingerprint else REUSED
            try:
                answer = self.act(db, request)
            except ProviderDown as down:
                answer = json_answer(503, {"error": str(down)}, Retry_After=1)
            self.keep(db, request, answer)
            return answer


if __name__ == "__main__":
    serve(Pinned503)
