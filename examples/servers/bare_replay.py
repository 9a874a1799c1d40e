from charges import REUSED, Charges, json_answer, serve


class BareReplay(Charges):
    """Wrong: a repetition is answered with a bare 200 instead of the 201 and its body."""

    def handle(self, request):
        with self.transaction() as db:
            kept = self.kept(db, request)
            if kept:
                return json_answer(200, {"status": "already done"}) if kept[0] == request.fingerprint else REUSED
            answer = self.act(db, request)
            self.keep(db, request, answer)
            return answer


if __name__ == "__main__":
    serve(BareReplay)
