from dataclasses import replace

from charges import serve
from right import Right


class GlobalKey(Right):
    """Wrong: one set of keys for all callers."""

    def kept(self, db, request):
        return super().kept(db, replace(request, caller=""))

    def keep(self, db, request, answer):
        super().keep(db, replace(request, caller=""), answer)


if __name__ == "__main__":
    serve(GlobalKey)
