"""Processes, requests and sizes."""

import http.client
import json
import os
import shutil
import subprocess
import time
from functools import partialmethod
from pathlib import Path

RUN = Path(os.environ.get("PEER_RUN", "/tmp/funil-peers")).resolve()
TICK = os.sysconf("SC_CLK_TCK")
PAGE = 25
CARDS = 10


def cpu(roots):
    """Seconds of processor time of the processes and all their descendants, those that ended included."""
    used, parent = {}, {}
    for entry in Path("/proc").iterdir():
        if not entry.name.isdigit():
            continue
        try:
            fields = (entry / "stat").read_text().rpartition(")")[2].split()
        except (FileNotFoundError, ProcessLookupError):
            continue
        parent[int(entry.name)] = int(fields[1])
        # utime, stime, and the same of children that were waited for
        used[int(entry.name)] = sum(map(int, fields[11:15]))

    def belongs(process):
        while process and process not in roots:
            process = parent.get(process)
        return process

    return sum(ticks for process, ticks in used.items() if belongs(process)) / TICK


def size(directory):
    """Bytes on disk of a directory."""
    return int(subprocess.check_output(["du", "-s", "--block-size=1", directory]).split()[0])


def run(*command, **options):
    return subprocess.run([str(part) for part in command], check=True, **options)


def binary(name, pattern):
    """A program by its name, or the last that matches a pattern of paths."""
    found = shutil.which(name) or max(map(str, Path("/").glob(pattern)), default=None)
    if not found:
        raise SystemExit(f"{name} is not installed")
    return Path(found).resolve()


def until(condition, seconds=120):
    """Waits until a request succeeds."""
    end = time.monotonic() + seconds
    while True:
        try:
            return condition()
        except (OSError, http.client.HTTPException, subprocess.CalledProcessError):
            if time.monotonic() > end:
                raise SystemExit(f"a server does not answer: see its log in {RUN}") from None
            time.sleep(0.2)


class System:
    """A system under comparison, and its processes."""

    port = 0

    def __init__(self):
        self.processes = []
        # Of every request: the credentials.
        self.headers = {"Content-Type": "application/json"}

    def client(self):
        return Client(self.port, self.headers)

    def spawn(self, name, *command, **options):
        """Starts a process whose output goes to a file."""
        with open(RUN / f"{name}.log", "ab") as log:
            # Apache ends its whole process group.
            process = subprocess.Popen([str(part) for part in command], stdout=log, stderr=log, start_new_session=True,
                                       **options)
        self.processes.append(process)

    def stop(self):
        # A server goes before its database.
        while self.processes:
            process = self.processes.pop()
            process.terminate()
            process.wait()

    def roots(self):
        return {process.pid for process in self.processes}


class Client:
    """A connection that is kept open if the server allows that."""

    def __init__(self, port, headers):
        self.connection = http.client.HTTPConnection("127.0.0.1", port, timeout=120)
        self.headers = headers

    def send(self, method, path, body=None):
        self.connection.request(method, path, None if body is None else json.dumps(body), self.headers)
        response = self.connection.getresponse()
        text = response.read()
        if response.status >= 300:
            raise SystemExit(f"{method} {path}: {response.status} {text[:500]!r}")
        self.cookie = response.getheader("Set-Cookie")
        return json.loads(text)

    get = partialmethod(send, "GET")
    post = partialmethod(send, "POST")
    put = partialmethod(send, "PUT")
    patch = partialmethod(send, "PATCH")
