import hashlib

from charges import Answer, serve
from right import Right


class MangledBinary(Right):
    """Wrong: answers with a binary receipt and keeps it as text."""

    def act(self, db, request):
        answer = super().act(db, request)
        receipt = b"\x89RECEIPT\r\n" + hashlib.sha512(answer.body).digest()
        return Answer(201, receipt, {"Content-Type": "application/octet-stream"})

    def keep(self, db, request, answer):
        text = answer.body.decode("utf-8", errors="replace").encode()
        super().keep(db, request, Answer(answer.status, text, answer.headers))


if __name__ == "__main__":
    serve(MangledBinary)
