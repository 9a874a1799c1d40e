from charges import Charges, serve


class NoKeys(Charges):
    """Wrong: the key is not looked at."""

    requires_key = False

    def handle(self, request):
        with self.transaction() as db:
            return self.act(db, request)


if __name__ == "__main__":
    serve(NoKeys)
