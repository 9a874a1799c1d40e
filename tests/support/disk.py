"""Disks that fail on purpose: a small file system of their own, and a library that makes system calls fail."""

import contextlib
import os
import pathlib
import shutil
import subprocess
import time

import pytest


@contextlib.contextmanager
def small_disk(directory, size, options=""):
    """A tmpfs of so many bytes on `directory`. Skips where mounting is not allowed."""
    directory = pathlib.Path(directory)
    directory.mkdir(exist_ok=True)
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={size}{options}", "tmpfs", str(directory)],
                             capture_output=True, text=True)
    if mounted.returncode != 0:
        pytest.skip(f"a file system of its own cannot be mounted here (needs root): {mounted.stderr.strip()}")
    try:
        yield directory
    finally:
        for _ in range(50):
            if subprocess.run(["umount", str(directory)], capture_output=True).returncode == 0:
                break
            time.sleep(0.1)
        else:
            subprocess.run(["umount", "-l", str(directory)], capture_output=True)


def fill(directory, leave=0):
    """Writes a file that leaves so many bytes free; its path."""
    path = pathlib.Path(directory) / "filler"
    with open(path, "ab") as file:
        while True:
            free = os.statvfs(directory).f_bavail * os.statvfs(directory).f_frsize - leave
            if free <= 0:
                return path
            try:
                file.write(b"\0" * min(free, 1 << 20))
                file.flush()
            except OSError:
                return path


def preloadable(directory, source):
    """Compiles a C file that stands beside this one into a library for LD_PRELOAD."""
    library = pathlib.Path(directory) / pathlib.Path(source).with_suffix(".so").name
    compiler = next((c for c in ("cc", "gcc", "clang", "clang-19") if shutil.which(c)), None)
    if compiler is None:
        pytest.skip("no C compiler for the library that stands between a process and its system calls")
    done = subprocess.run([compiler, "-O1", "-fPIC", "-shared", "-o", str(library), str(pathlib.Path(__file__).with_name(source)),
                           "-ldl"], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return library


def preloading(library):
    # A sanitizer's runtime wants to come first; these libraries only stand before libc, so it need not.
    return {"LD_PRELOAD": str(library), "ASAN_OPTIONS": "verify_asan_link_order=0"}


class FailingDisk:
    """Environment for a process whose files below `under` fail when told so."""

    def __init__(self, directory, under):
        self.control = pathlib.Path(directory) / "failing"
        library = preloadable(directory, "failing_disk.c")
        self.environment = {**preloading(library), "STET_FAILING_DISK": str(self.control), "STET_FAILING_UNDER": str(under)}

    def fail(self, what):
        temporary = self.control.with_suffix(".new")
        temporary.write_text(what)
        temporary.rename(self.control)

    def heal(self):
        self.control.unlink(missing_ok=True)
