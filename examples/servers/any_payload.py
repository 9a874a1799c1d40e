from charges import Charges, serve


class AnyPayload(Charges):
    """Wrong: replays for any payload under a used key."""

    def handle(self, request):
        with self.transaction() as db:
            kept = self.kept(db, request)
            if kept:
                return kept[1]
            answer = self.act(db, request)
            self.keep(db, request, answer)
            return answer


if __name__ == "__main__":
    serve(AnyPayload)
