"""Ports that stay a test's own, also while nobody listens on them: before a process has started, and between a kill and the restart."""

import random
import socket

# Below those that the kernel gives to whoever asks for any (ip_local_port_range): of these, one that was free a moment ago is
# soon another test's.
CANDIDATES = range(10_000, 32_000)
_kept = {}


def free_port():
    """Free on 127.0.0.1, and no other test's until it is given back or this process ends."""
    for port in random.sample(CANDIDATES, 200):
        mark = socket.socket(socket.AF_UNIX)  # a name, not a file: it goes with the process, whatever becomes of that
        try:
            mark.bind(f"\0stet-test-port-{port}")
            with socket.socket() as probe:
                probe.bind(("127.0.0.1", port))
        except OSError:
            mark.close()
            continue
        _kept[port] = mark
        return port
    raise AssertionError("no port is free")


def give_back(port):
    if port in _kept:
        _kept.pop(port).close()
