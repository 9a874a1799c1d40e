from charges import REUSED, Charges, serve


class CheckThenAct(Charges):
    """Wrong: asks a map in memory, acts, then notes the key. Two at once both hear "not yet"; a restart forgets all."""

    def __init__(self, *args):
        super().__init__(*args)
        self.seen = {}

    def handle(self, request):
        place = (request.caller, request.route, request.key)
        if place in self.seen:
            fingerprint, answer = self.seen[place]
            return answer if fingerprint == request.fingerprint else REUSED
        with self.transaction() as db:
            answer = self.act(db, request)
        self.seen[place] = (request.fingerprint, answer)
        return answer


if __name__ == "__main__":
    serve(CheckThenAct)
