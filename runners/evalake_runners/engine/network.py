"""A guard that keeps a worker process off the network while it is measured."""

from __future__ import annotations

import ipaddress
import socket
from typing import Any


class NetworkBlockedError(OSError):
    """A system that says it needs no network tried to use it."""


def block_network() -> None:
    """Refuse connections and look-ups beyond this machine, for the rest of this process.

    It guards Python's sockets, so also every library above them. Code that opens sockets in
    C, and programs that the system starts, are not covered.
    """
    connect, connect_ex, sendto = (
        socket.socket.connect,
        socket.socket.connect_ex,
        socket.socket.sendto,
    )
    getaddrinfo = socket.getaddrinfo

    def guarded_connect(self: socket.socket, address: Any) -> None:
        _check(self.family, address)
        connect(self, address)

    def guarded_connect_ex(self: socket.socket, address: Any) -> int:
        _check(self.family, address)
        return connect_ex(self, address)

    def guarded_sendto(self: socket.socket, *arguments: Any) -> int:
        _check(self.family, arguments[-1])
        return sendto(self, *arguments)

    def guarded_getaddrinfo(host: Any, *arguments: Any, **named: Any) -> Any:
        if host is not None and not is_local(host):
            raise NetworkBlockedError(f"the network is blocked in this run: {host!r}")
        return getaddrinfo(host, *arguments, **named)

    for name, guard in (
        ("connect", guarded_connect),
        ("connect_ex", guarded_connect_ex),
        ("sendto", guarded_sendto),
    ):
        setattr(socket.socket, name, guard)
    socket.getaddrinfo = guarded_getaddrinfo


def is_local(host: str | bytes) -> bool:
    """Whether a host is this machine."""
    name = host.decode("ascii", "replace") if isinstance(host, bytes) else host
    if name in {"", "localhost"}:
        return True
    try:
        address = ipaddress.ip_address(name.partition("%")[0])
    except ValueError:
        return False
    return address.is_loopback or address.is_unspecified


def _check(family: int, address: Any) -> None:
    if family in {socket.AF_INET, socket.AF_INET6} and not is_local(address[0]):
        raise NetworkBlockedError(f"the network is blocked in this run: {address[0]!r}")
