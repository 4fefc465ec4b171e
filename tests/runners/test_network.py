"""A local arm is measured without network, its children too; one that needs it has it."""

from __future__ import annotations

import os
import socket
import sys
import threading
from collections.abc import Iterator

import pytest
from driving import arm, run
from toy import rows

from evalake_runners.workers import network
from evalake_warehouse.project import Project

BORDERING = "python:bordering"


def own_network_is_allowed() -> bool:
    """Whether a process may leave the network here; some containers refuse it."""
    child = os.fork()
    if child == 0:
        os._exit(0 if network.leave_network() else 1)
    return os.waitpid(child, 0)[1] == 0


needs_own_network = pytest.mark.skipif(
    sys.platform != "linux" or not own_network_is_allowed(), reason="may not leave the network"
)


@pytest.fixture
def address() -> Iterator[str]:
    """Of a server on this machine, outside of any worker."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        threading.Thread(target=_accept, args=(server,), daemon=True).start()
        host, port = server.getsockname()
        yield f"{host}:{port}"


def _accept(server: socket.socket) -> None:
    while True:
        try:
            server.accept()[0].close()
        except OSError:
            return


def told(project: Project) -> dict[str, str]:
    return {row["task_id"]: row["title"] for row in rows(project, "hits")}


def recorded(project: Project) -> list[tuple[str, bool]]:
    finished = [row for row in rows(project, "runs") if row["event"] == "finished"]
    return [(row["network_block"], row["network_blocked"]) for row in finished]


@needs_own_network
def test_a_child_of_a_local_arm_has_no_network_but_a_loopback_of_its_own(
    toy: Project, address: str
) -> None:
    on = {"task-00000": "child calls", "task-00001": "own server"}
    run(toy, arm(BORDERING, on=on, address="192.0.2.1:80"), limit=2)
    assert "Network is unreachable" in told(toy)["task-00000"]
    assert told(toy)["task-00001"] == "exit 0"
    run(toy, arm(BORDERING, on=on, address=address), limit=1)
    assert "Connection refused" in told(toy)["task-00000"]
    assert recorded(toy) == [("process", True)] * 2


def test_an_arm_that_needs_the_network_reaches_a_server_of_this_machine(
    toy: Project, address: str
) -> None:
    run(
        toy, arm(BORDERING, on={"task-00000": "child calls"}, address=address, online=True), limit=1
    )
    assert told(toy) == {"task-00000": "connected"}
    assert recorded(toy) == [("no", False)]


def test_where_leaving_is_not_allowed_nothing_has_changed(
    address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refused() -> None:
        raise PermissionError

    monkeypatch.setattr(network, "_leave", refused)
    assert not network.leave_network()
    host, port = address.split(":")
    socket.create_connection((host, int(port)), timeout=5).close()
