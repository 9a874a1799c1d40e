"""One thread of a process stands still while the others go on, as one that the scheduler has forgotten."""

import contextlib
import ctypes
import os
import pathlib

import pytest

SEIZE, INTERRUPT, DETACH = 0x4206, 0x4207, 17  # of ptrace
WALL = 0x40000000  # waitpid: threads, too

libc = ctypes.CDLL(None, use_errno=True)
libc.ptrace.argtypes = [ctypes.c_long, ctypes.c_long, ctypes.c_void_p, ctypes.c_void_p]


def threads(pid, name):
    """The ids of its threads of that name."""
    return [int(task.name) for task in pathlib.Path(f"/proc/{pid}/task").iterdir() if (task / "comm").read_text().strip() == name]


@contextlib.contextmanager
def standing_still(thread):
    """A tracer stops it, which is told of that thread alone; SIGSTOP would stop them all."""
    if libc.ptrace(SEIZE, thread, None, None) != 0 or libc.ptrace(INTERRUPT, thread, None, None) != 0:
        pytest.skip(f"threads cannot be stopped here (ptrace): {os.strerror(ctypes.get_errno())}")
    os.waitpid(thread, WALL)
    try:
        yield
    finally:
        libc.ptrace(DETACH, thread, None, None)
