"""The servers of a benchmark run: an upstream, nginx passing through to it, and Stet in front of it."""

import os
import re
import signal
import socket
import subprocess
import time
from pathlib import Path

ANSWER = '{"id":"ch_8e03978e40d5","amount":4900,"currency":"eur","status":"succeeded"}'


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def wait_for(port, seconds=20):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        try:
            socket.create_connection(("127.0.0.1", port), 0.5).close()
            return
        except OSError:
            time.sleep(0.05)
    raise SystemExit(f"bench: nothing listens on port {port}")


class Server:
    """A process group that can be stopped, and whose processor time and memory can be read."""

    def __init__(self, command, log, env=None):
        self.process = subprocess.Popen(
            command, stdout=open(log, "ab"), stderr=subprocess.STDOUT, env={**os.environ, **(env or {})}, start_new_session=True
        )

    def pids(self):
        group = self.process.pid
        found = []
        for entry in Path("/proc").iterdir():
            if entry.name.isdigit():
                try:
                    stat = (entry / "stat").read_text().rsplit(") ", 1)[1].split()
                except OSError:
                    continue
                if int(stat[2]) == group:
                    found.append(int(entry.name))
        return found

    def cpu_seconds(self):
        ticks = 0
        for pid in self.pids():
            stat = Path(f"/proc/{pid}/stat").read_text().rsplit(") ", 1)[1].split()
            ticks += int(stat[11]) + int(stat[12])
        return ticks / os.sysconf("SC_CLK_TCK")

    def rss_bytes(self):
        total = 0
        for pid in self.pids():
            total += int(re.search(r"VmRSS:\s+(\d+)", Path(f"/proc/{pid}/status").read_text()).group(1)) * 1024
        return total

    def stop(self):
        try:
            os.killpg(self.process.pid, signal.SIGTERM)
            self.process.wait(20)
        except (ProcessLookupError, subprocess.TimeoutExpired):
            os.killpg(self.process.pid, signal.SIGKILL)


def nginx(folder, name, workers, server):
    (folder / f"{name}.conf").write_text(
        f"""
daemon off;
worker_processes {workers};
pid {folder}/{name}.pid;
error_log {folder}/{name}.err;
events {{ worker_connections 16384; }}
http {{
  access_log off;
  client_body_temp_path {folder}/{name}-body;
  proxy_temp_path {folder}/{name}-proxy;
  fastcgi_temp_path {folder}/{name}-f; uwsgi_temp_path {folder}/{name}-u; scgi_temp_path {folder}/{name}-s;
  keepalive_requests 100000000;
  {server}
}}
"""
    )
    return Server(["nginx", "-p", str(folder), "-c", f"{folder}/{name}.conf"], folder / f"{name}.log")


def upstream(folder):
    port = free_port()
    server = nginx(
        folder, "upstream", 1,
        f"server {{ listen 127.0.0.1:{port}; default_type application/json; location / {{ return 201 '{ANSWER}'; }} }}",
    )
    wait_for(port)
    return server, port


def passing_through(folder, upstream_port):
    port = free_port()
    server = nginx(
        folder, "neighbour", 2,
        f"""
  upstream api {{ server 127.0.0.1:{upstream_port}; keepalive 512; keepalive_requests 100000000; }}
  server {{ listen 127.0.0.1:{port} backlog=4096;
    location / {{ proxy_pass http://api; proxy_http_version 1.1; proxy_set_header Connection ""; }} }}""",
    )
    wait_for(port)
    return server, port


def stet(folder, binary, upstream_port, store, settings=()):
    port, admin = free_port(), free_port()
    command = [
        binary, "serve", "--upstream", f"http://127.0.0.1:{upstream_port}", "--listen", f"127.0.0.1:{port}",
        "--admin", f"127.0.0.1:{admin}", "--store", store, "--log", "off",
    ]
    for setting in settings:
        command += ["--set", setting]
    server = Server(command, folder / "stet.log")
    wait_for(port, 120)
    return server, port


def node_pg(folder, upstream_port, environment):
    """The usual pattern, written by hand: examples/node_pg."""
    port = free_port()
    source = Path(__file__).resolve().parent.parent / "examples" / "node_pg"
    subprocess.run(["npm", "ci", "--no-audit", "--no-fund"], cwd=source, check=True, stdout=subprocess.DEVNULL)
    server = Server(["node", str(source / "proxy.js"), str(port), f"http://127.0.0.1:{upstream_port}"],
                    folder / "node_pg.log", environment)
    wait_for(port)
    return server, port
