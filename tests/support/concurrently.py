"""Requests that run while the test goes on."""

import threading


class Call:
    def __init__(self, function, *args, **more):
        self._result = None
        self._error = None
        self._thread = threading.Thread(target=self._run, args=(function, args, more), daemon=True)
        self._thread.start()

    def _run(self, function, args, more):
        try:
            self._result = function(*args, **more)
        except BaseException as error:  # handed to whoever asks for the result
            self._error = error

    def running(self):
        return self._thread.is_alive()

    def result(self, within=15):
        self._thread.join(within)
        assert not self._thread.is_alive(), f"no result within {within} s"
        if self._error is not None:
            raise self._error
        return self._result


def background(function, *args, **more):
    return Call(function, *args, **more)


def all_at_once(count, function):
    """`function(i)` for each i, started together; the results in order."""
    barrier = threading.Barrier(count)

    def run(i):
        barrier.wait(30)
        return function(i)

    calls = [background(run, i) for i in range(count)]
    return [call.result(60) for call in calls]
