"""A port for a process that cannot pick one by itself."""

import random
import socket

# Below those that the kernel gives to whoever asks for any (ip_local_port_range): of these, one that was free a moment ago is
# soon another test's.
CANDIDATES = range(10_000, 32_000)
_kept = []


def free_port():
    """Free on 127.0.0.1, and no other test's for as long as this process lives."""
    for port in random.sample(CANDIDATES, 200):
        mark = socket.socket(socket.AF_UNIX)  # a name, not a file: it goes with the process, whatever becomes of that
        try:
            mark.bind(f"\0stet-test-port-{port}")
            with socket.socket() as probe:
                probe.bind(("127.0.0.1", port))
        except OSError:
            mark.close()
            continue
        _kept.append(mark)
        return port
    raise AssertionError("no port is free")
