"""PostgreSQL 15 for the tests: private clusters on a unix socket in a directory of their own, which go with their test.

    with Cluster() as cluster:            # initdb, start; gone at the end, also when this process is killed
        url = cluster.create_database()   # postgresql://… for the gateway

`python3 tests/support/postgres.py up DIR` and `… down DIR` are ctest's fixture: one cluster that all its tests share. The
databases in it are the tests' own. It ends with the last ctest that asked for it, however that ended. (By hand: it ends with
the shell, or with the process whose id is the third argument.)
"""

import contextlib
import fcntl
import itertools
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import time

BIN = pathlib.Path(os.environ.get("STET_POSTGRES_BIN", "/usr/lib/postgresql/15/bin"))
PORT = 5432  # of the socket's name alone: nothing listens on TCP
# PostgreSQL refuses to run as root.
AS = {"user": "postgres", "group": "postgres", "extra_groups": []} if os.geteuid() == 0 else {}
FAST = {"fsync": "off", "full_page_writes": "off"}
SETTINGS = {"listen_addresses": "", "shared_buffers": "64MB", "max_connections": "150", "max_wal_size": "256MB",
            "autovacuum_naptime": "20s", "logging_collector": "off", "log_line_prefix": "%m [%p] %q%a ",
            "dynamic_shared_memory_type": "mmap"}
# Reads its standard input until the test's process has closed it by ending, and then leaves nothing behind.
GUARD = """
import os, shutil, signal, sys
sys.stdin.buffer.read()
for name in os.listdir(sys.argv[1]):
    try:
        with open(os.path.join(sys.argv[1], name, "postmaster.pid")) as file: os.kill(int(file.readline()), signal.SIGQUIT)
    except (OSError, ValueError): pass
shutil.rmtree(sys.argv[1], ignore_errors=True)
"""


def run(*command, cwd="/", **more):
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True, cwd=cwd, **AS, **more)
    assert done.returncode == 0, f"{command}:\n{done.stdout}{done.stderr}"
    return done.stdout


def stat(pid):
    """A process's state, its parent and so on; empty: it is gone."""
    try:
        with open(f"/proc/{pid}/stat") as file:
            return file.read().rsplit(")", 1)[1].split()
    except (OSError, IndexError):
        return []


def alive(pid):
    return stat(pid)[:1] not in ([], ["Z"])


class Server:
    """One postmaster on one data directory, whose socket lies beside the data."""

    def __init__(self, directory, settings=None, fsync=False, data=None):
        self.directory = pathlib.Path(directory)
        self.data = pathlib.Path(data) if data else self.directory / "data"
        self.log = self.directory / "log"
        self.settings = {**SETTINGS, **({} if fsync else FAST), "unix_socket_directories": str(self.directory), **(settings or {})}
        self.child = None
        assert len(f"{self.directory}/.s.PGSQL.{PORT}") < 100, f"too long for a socket's address: {self.directory}"

    def make_directory(self):
        self.directory.mkdir(mode=0o755, exist_ok=True)
        if AS:
            shutil.chown(self.directory, "postgres", "postgres")

    def initialise(self, *options):
        self.make_directory()
        run(BIN / "initdb", "-D", self.data, "-U", "postgres", "-A", "trust", "-E", "UTF8", "--locale=C.UTF-8", "--no-sync",
            "--no-instructions", *options)
        return self

    def launch(self):
        options = itertools.chain.from_iterable(("-c", f"{name}={value}") for name, value in self.settings.items())
        with open(self.log, "ab") as log:
            self.child = subprocess.Popen([str(BIN / "postgres"), "-D", str(self.data), "-p", str(PORT), *options],
                                          stdin=subprocess.DEVNULL, stdout=log, stderr=log, cwd="/", start_new_session=True, **AS)
        return self

    def is_ready(self):
        return subprocess.run([str(BIN / "pg_isready"), "-q", "-h", str(self.directory), "-p", str(PORT)],
                              cwd="/").returncode == 0

    def start(self, within=60):
        """Started, and takes connections. Tries again while processes of a killed postmaster are still leaving."""
        end = time.monotonic() + within
        self.launch()
        while not self.is_ready():
            assert time.monotonic() < end, f"PostgreSQL does not start:\n{self.last_words()}"
            if self.child.poll() is not None:
                assert "still in use" in self.last_words() or "lock file" in self.last_words(), self.last_words()
                time.sleep(0.1)
                self.launch()
            time.sleep(0.02)
        return self

    def last_words(self):
        return self.log.read_text(errors="replace")[-3000:] if self.log.exists() else ""

    @property
    def pid(self):
        return self.child.pid

    def is_running(self):
        return self.child is not None and self.child.poll() is None

    def stop(self, how=signal.SIGINT, within=30):
        """SIGINT: connections are ended and everything is written; SIGQUIT: at once, with a recovery at the next start."""
        if self.is_running():
            self.child.send_signal(how)
            try:
                self.child.wait(within)
            except subprocess.TimeoutExpired:
                self.kill()

    def processes(self):
        """The postmaster's process id and those of its children."""
        return [self.pid, *(int(pid) for pid in os.listdir("/proc") if pid.isdigit() and stat(pid)[1:2] == [str(self.pid)])]

    def kill(self, within=30):
        """SIGKILL of the postmaster; its processes see it and leave. Until the last one has left they go on serving."""
        if self.child is None:
            return
        self.child.send_signal(signal.SIGSTOP)  # no more children
        leaving = self.processes()
        self.child.kill()
        self.child.wait(within)
        end = time.monotonic() + within
        while any(map(alive, leaving)):
            assert time.monotonic() < end, f"of {leaving} not all leave:\n{self.last_words()}"
            time.sleep(0.005)

    def restart(self, how=signal.SIGINT):
        self.stop(how)
        return self.start()

    def set(self, **settings):
        """Settings that a reload takes over."""
        for name, value in settings.items():
            self.execute(f"alter system set {name} = '{value}'")
            self.settings.pop(name, None)  # what the command line said would win
        self.execute("select pg_reload_conf()")

    # ---- SQL ----

    def url(self, database="postgres", user="postgres", more=""):
        return f"postgresql://{user}@/{database}?host={self.directory}&port={PORT}{more}"

    @contextlib.contextmanager
    def connect(self, database="postgres", user="postgres"):
        """A psycopg2 connection in autocommit."""
        import psycopg2

        connection = psycopg2.connect(host=str(self.directory), port=PORT, dbname=database, user=user)
        connection.autocommit = True
        try:
            yield connection
        finally:
            connection.close()

    def query(self, sql, parameters=None, database="postgres"):
        """The rows, as tuples."""
        with self.connect(database) as connection, connection.cursor() as cursor:
            cursor.execute(sql, parameters)
            return cursor.fetchall() if cursor.description is not None else []

    execute = query

    def value(self, sql, parameters=None, database="postgres"):
        (row,) = self.query(sql, parameters, database)
        return row[0]

    def psql(self, script, database="postgres", user="postgres"):
        """Runs a script to its first error; the finished process."""
        return subprocess.run([str(BIN / "psql"), "-X", "-q", "-v", "ON_ERROR_STOP=1", "-h", str(self.directory), "-p", str(PORT), "-U", user,
                               "-d", database], input=script, capture_output=True, text=True, cwd="/", timeout=120)

    def create_database(self, name=None, template=None):
        """Its name. A template must not have connections."""
        name = name or f"t{os.getpid()}_{next(_numbers)}"
        self.execute_when_free(f'create database "{name}"' + (f' template "{template}"' if template else ""))
        return name

    def drop_database(self, name):
        self.execute_when_free(f'drop database if exists "{name}" with (force)')

    def execute_when_free(self, statement):
        """What needs a database that nobody is connected to. PostgreSQL waits five seconds for those to leave who end, or whom
        it ends (autovacuum); on a loaded machine they are still there then."""
        import psycopg2

        for last in (False, False, True):
            try:
                return self.execute(statement)
            except psycopg2.errors.ObjectInUse:
                if last:
                    raise

    def terminate_backends(self, database=None, application=None):
        """Ends sessions as an administrator would; how many."""
        return self.value("select count(pg_terminate_backend(pid)) from pg_stat_activity where pid <> pg_backend_pid() and "
                          "backend_type = 'client backend' and (%s::text is null or datname = %s) and "
                          "(%s::text is null or application_name = %s)", (database, database, application, application))

    def end_backends(self, database, within=20):
        """Ends the sessions on a database, and waits until they have left: what one of them was about would come after what
        is done next."""
        end = time.monotonic() + within
        while self.terminate_backends(database):
            assert time.monotonic() < end, f"backends of {database} do not leave: {self.backends(database)}"
            time.sleep(0.01)

    def backends(self, database=None):
        """The process ids of clients' backends."""
        return [pid for (pid,) in self.query(
            "select pid from pg_stat_activity where pid <> pg_backend_pid() and backend_type = 'client backend' and "
            "(%s::text is null or datname = %s)", (database, database))]

    # ---- standbys ----

    def standby(self, directory, name="standby", settings=None):
        """A streaming copy of this server, started. `make_synchronous(name)` makes commits here wait for it."""
        copy = Server(directory, {**self.settings, **(settings or {}), "unix_socket_directories": str(directory)})
        copy.make_directory()
        run(BIN / "pg_basebackup", "-D", copy.data, "-d", f"host={self.directory} port={PORT} user=postgres application_name={name}",
            "-R", "-X", "stream", "-c", "fast", "--no-sync")
        return copy.start()

    def make_synchronous(self, name="standby"):
        self.set(synchronous_standby_names=name)
        end = time.monotonic() + 30
        while not self.query("select 1 from pg_stat_replication where application_name = %s and sync_state = 'sync'", (name,)):
            assert time.monotonic() < end, "the standby does not become synchronous"
            time.sleep(0.05)

    def promote(self):
        self.execute("select pg_promote(true, 30)")


_numbers = itertools.count(1)


class Cluster(Server):
    """A server in a directory of its own, with whatever stands around it. Ends and vanishes with its `with`, or its process."""

    def __init__(self, settings=None, fsync=False, data=None, within="/tmp", initdb=()):
        self.initdb = initdb
        self.home = pathlib.Path(tempfile.mkdtemp(prefix="stet-pg-", dir=within))
        self.home.chmod(0o755)
        self.guard = subprocess.Popen([sys.executable, "-c", GUARD, str(self.home)], stdin=subprocess.PIPE, cwd="/",
                                      start_new_session=True)
        self.around = []
        super().__init__(self.home / "0", settings, fsync, data)

    def __enter__(self):
        try:
            self.initialise(*self.initdb)
            return self.start()
        except BaseException:
            self.end()
            raise

    def __exit__(self, *_):
        self.end()

    def standby(self, name="standby", settings=None, directory=None):
        made = super().standby(directory or self.home / f"{len(self.around) + 1}", name, settings)
        self.around.append(made)
        return made

    def bouncer(self, pool=20, **settings):
        """PgBouncer in transaction mode before this server; its address is `bouncer.url(database)`."""
        made = Bouncer(self.home / f"b{len(self.around) + 1}", self, pool, settings)
        self.around.append(made)
        return made.start()

    def end(self):
        for server in [*self.around, self]:
            server.stop(signal.SIGQUIT, 10)
        self.guard.stdin.close()
        self.guard.wait(60)
        shutil.rmtree(self.home, ignore_errors=True)


class Bouncer:
    def __init__(self, directory, server, pool, settings):
        self.directory = directory
        self.server = server
        self.child = None
        own = {"pool_mode": "transaction", "auth_type": "any", "listen_port": PORT, "unix_socket_dir": directory,
               "logfile": directory / "log", "default_pool_size": pool, "max_client_conn": 500, **settings}
        directory.mkdir(mode=0o755)
        # auth_type=any logs in as the user that the database's line names.
        lines = [f"[databases]\n* = host={server.directory} port={PORT} user=postgres\n[pgbouncer]",
                 *(f"{k} = {v}" for k, v in own.items())]
        (directory / "ini").write_text("\n".join(lines) + "\n")
        if AS:
            shutil.chown(directory, "postgres", "postgres")

    def start(self, within=10):
        self.child = subprocess.Popen(["/usr/sbin/pgbouncer", "-q", str(self.directory / "ini")], stdin=subprocess.DEVNULL,
                                      stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, cwd="/", start_new_session=True, **AS)
        end = time.monotonic() + within
        while not (self.directory / f".s.PGSQL.{PORT}").exists():
            assert self.child.poll() is None and time.monotonic() < end, (self.directory / "log").read_text()
            time.sleep(0.02)
        return self

    url = Server.url

    def is_running(self):
        return self.child is not None and self.child.poll() is None

    def stop(self, how=signal.SIGTERM, within=5):
        if self.is_running():
            self.child.send_signal(how)
            try:
                self.child.wait(within)
            except subprocess.TimeoutExpired:
                self.child.kill()
                self.child.wait(5)


# ---- ctest's fixture ----


@contextlib.contextmanager
def _sharing(directory):
    """Alone with the cluster of `directory`; yields the file that lists who uses it, a process id a line."""
    with open(f"{directory}.lock", "a") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield pathlib.Path(f"{directory}.users")


def _users(file):
    return [int(pid) for pid in (file.read_text().split() if file.exists() else []) if alive(pid)]


def _postmaster(directory):
    try:
        pid = int((directory / "data/postmaster.pid").read_text().split("\n", 1)[0])
    except (OSError, ValueError):
        return None
    return pid if alive(pid) else None


def up(directory, user):
    directory = pathlib.Path(directory)
    with _sharing(directory) as file:
        users = _users(file)
        if _postmaster(directory) is None:
            shutil.rmtree(directory, ignore_errors=True)
            Server(directory, {"max_connections": "1000"}).initialise().start()
            subprocess.Popen([sys.executable, __file__, "watch", str(directory)], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                             stderr=subprocess.DEVNULL, cwd="/", start_new_session=True)
        file.write_text("\n".join(map(str, {*users, user})))


def down(directory, user=None):
    """Whether it is gone: nobody uses it any more."""
    directory = pathlib.Path(directory)
    with _sharing(directory) as file:
        users = [pid for pid in _users(file) if pid != user]
        file.write_text("\n".join(map(str, users)))
        if users:
            return False
        pid = _postmaster(directory)
        if pid is not None:
            os.kill(pid, signal.SIGQUIT)
            for _ in range(200):
                if not alive(pid):
                    break
                time.sleep(0.05)
        shutil.rmtree(directory, ignore_errors=True)
        file.unlink(missing_ok=True)
        return True


def watch(directory):
    """Ends the cluster of a ctest that was killed before its last test."""
    while not down(directory):
        time.sleep(2)


def main():
    what, directory = sys.argv[1:3]
    user = int(sys.argv[3]) if len(sys.argv) > 3 else os.getppid()
    {"up": lambda: up(directory, user), "down": lambda: down(directory, user), "watch": lambda: watch(directory)}[what]()


if __name__ == "__main__":
    main()
