"""A system that sends what cannot cross into evalake's own process, or harms what carries it."""

from __future__ import annotations

import os
import signal
import socket
import stat
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from pydantic import Field

from evalake_runners.adapters.local import LocalSystem
from evalake_runners.adapters.protocol import Answer, CorpusView, IndexReport, Query, RawHit
from evalake_runners.adapters.setup import Setup, Strict

HANGING = "import time; time.sleep(600)"


class CONFIG(Strict):
    on: Mapping[str, str] = Field(default_factory=dict)  # end of a task id -> what goes wrong
    report: str = "good"
    lives: Mapping[str, int] = Field(default_factory=dict)  # make, index, open -> dies so often
    notes: str = ""  # folder of what it writes down
    mark: str = "bordering-child"
    address: str = ""  # host:port of a server to call from a child
    online: bool = False


class EvilText(str):
    """Reading a pickle of it would run this in the process that reads it."""

    __slots__ = ()

    def __reduce__(self) -> Any:
        return (os._exit, (7,))

    def __str__(self) -> str:
        raise RuntimeError("no text of mine is made plain by me")


REPORTS: dict[str, Callable[[], Any]] = {
    "good": lambda: IndexReport(n_chunks=3, counts={"files": 3}),
    "numpy": lambda: IndexReport(
        n_chunks=np.int64(3), n_vectors=np.int32(4), counts={"files": np.int64(5)}
    ),
    "none": lambda: None,
    "nan": lambda: IndexReport(n_chunks=float("nan")),  # type: ignore[arg-type]
    "object": lambda: IndexReport(counts={"files": object()}),  # type: ignore[dict-item]
    "huge": lambda: IndexReport(n_vectors=10**30),
    "key": lambda: IndexReport(counts={3: 3}),  # type: ignore[dict-item]
    "device": lambda: IndexReport(device=b"cpu"),  # type: ignore[arg-type]
}
ANSWERS: dict[str, Callable[[], Any]] = {
    "huge count": lambda: answer(n_tool_calls=10**30),
    "negative count": lambda: answer(n_tool_calls=-7),
    "nan cost": lambda: answer(cost_usd=float("nan")),
    "negative cost": lambda: answer(cost_usd=-100.0),
    "huge cost": lambda: answer(cost_usd=1e308),
    "negative phase": lambda: answer(phase_seconds={"rank": -1.0}),
    "covered": lambda: answer(covered="no"),
    "numpy": lambda: answer(
        n_tool_calls=np.int64(2), cost_usd=np.float32(0.5), covered=np.bool_(True)
    ),
    "evil text": lambda: Answer(
        hits=[RawHit(doc_id=EvilText("doc-1"), text=EvilText("evil"), title=EvilText("title"))]
    ),
}


def answer(**fields: Any) -> Answer:
    return Answer(hits=[RawHit(doc_id="doc-1")], **fields)


class Bordering(LocalSystem):
    name, version, adapter_version = "bordering", "1", "1"

    def __init__(self, config: CONFIG) -> None:
        super().__init__(config)
        self.config = config
        self.needs_network = config.online
        self.n_asked = 0
        self.die("make")

    def ingestion_config(self) -> Mapping[str, Any]:
        return {"report": self.config.report}

    def index(self, corpus: CorpusView, index_dir: Path) -> IndexReport:  # noqa: ARG002
        self.die("index")
        (index_dir / "built").touch()
        return REPORTS[self.config.report]()  # type: ignore[no-any-return]

    def open(self, corpus: CorpusView, index_dir: Path) -> Bordering:  # noqa: ARG002
        self.die("open")
        return self

    def search(self, query: Query) -> Answer:
        self.n_asked += 1
        for end, what in self.config.on.items():
            if query.task_id.endswith(end):
                return self.do(what)
        return answer()

    def close(self) -> None:
        pass

    def die(self, where: str) -> None:
        """Be killed from outside, as often as the configuration says."""
        if where not in self.config.lives or is_describing():
            return
        died = Path(self.config.notes, where)
        n_died = int(died.read_text()) if died.exists() else 0
        if n_died < self.config.lives[where]:
            died.write_text(str(n_died + 1))
            os.kill(os.getpid(), signal.SIGKILL)

    def do(self, what: str) -> Answer:  # noqa: PLR0912 - one case per way to go wrong
        match what:
            case "junk":
                for channel in channels():
                    os.write(channel, b"\xde\xad\xbe\xef" * 1000)
                time.sleep(600)
            case "wrong kind":
                # Messages so far: make, open, and one for each search.
                body = b'{"to":%d,"kind":"Ready"}' % (2 + self.n_asked)
                for channel in channels():
                    os.write(channel, b"elk1" + len(body).to_bytes(8) + body)
            case "claims too much":
                for channel in channels():
                    os.write(channel, b"elk1" + (2**60).to_bytes(8))
            case "half a message":
                for channel in channels():
                    os.write(channel, b"elk1" + (2**20).to_bytes(8) + b"{")
                os._exit(5)
            case "fork and crash":
                subprocess.Popen([sys.executable, "-c", HANGING, self.config.mark])
                os.fork() or time.sleep(600)  # this one keeps the worker's connection open
                os.kill(os.getpid(), signal.SIGSEGV)
            case "daemon":
                for _ in range(2):
                    subprocess.Popen(
                        [sys.executable, "-c", HANGING, self.config.mark], start_new_session=True
                    )
                Path(self.config.notes, "started").write_text(str(os.getpid()))
            case "hog":
                Path(self.config.notes, "started").write_text(str(os.getpid()))
                subprocess.Popen(
                    [sys.executable, "-c", HANGING, self.config.mark], start_new_session=True
                )
                __import__("re").match(r"(a+)+$", "a" * 60 + "b")  # holds the interpreter for ages
            case "child calls":
                host, _, port = self.config.address.partition(":")
                code = (
                    "import socket, sys; "
                    "socket.create_connection((sys.argv[1], int(sys.argv[2])), timeout=5).close()"
                )
                done = subprocess.run(
                    [sys.executable, "-c", code, host, port], capture_output=True, check=False
                )
                last = done.stderr.decode().strip().rpartition("\n")[2]
                return Answer(hits=[RawHit(doc_id="doc-1", title=last or "connected")])
            case "own server":
                with socket.create_server(("127.0.0.1", 0)) as server:
                    socket.create_connection(server.getsockname(), timeout=5).close()
                null = subprocess.run(["/bin/sh", "-c", "echo x > /dev/null"], check=False)
                return Answer(hits=[RawHit(doc_id="doc-1", title=f"exit {null.returncode}")])
            case _:
                return ANSWERS[what]()  # type: ignore[no-any-return]
        return answer()


def channels() -> list[int]:
    """Descriptors of this process that are sockets."""
    found = []
    for entry in list(Path("/proc/self/fd").iterdir()):
        try:
            if stat.S_ISSOCK(os.fstat(int(entry.name)).st_mode):
                found.append(int(entry.name))
        except OSError:
            continue
    return found


def is_describing() -> bool:
    """Whether this process only says what the system is."""
    return not Path.cwd().name.startswith("evalake-")


def make(config: CONFIG, setup: Setup) -> Bordering:
    return Bordering(config)
