from dataclasses import replace

from charges import serve
from right import Right


class HashedParameters(Right):
    """Wrong: a hash of the parameters is taken for the key, so that two equal orders are one."""

    def handle(self, request):
        return super().handle(replace(request, key=request.fingerprint.hex()))


if __name__ == "__main__":
    serve(HashedParameters)
