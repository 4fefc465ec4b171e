"""What keeps a worker, and what it starts, off the network while it is measured."""

from __future__ import annotations

import ipaddress
import os
import socket
import struct
import sys
from pathlib import Path
from typing import Any

# process: the worker and its children are in a network of their own, with nothing but loopback.
# python: only its Python sockets are guarded. no: the system needs the network.
NETWORK_BLOCKS = ("process", "python", "no")

_CLONE_NEWUSER = 0x10000000
_CLONE_NEWNET = 0x40000000
_SIOCSIFFLAGS = 0x8914
_IFF_UP = 1
_CAPABILITY_VERSION = 0x20080522


class NetworkBlockedError(OSError):
    """A system that says it needs no network tried to use it."""


def leave_network() -> bool:
    """Move this process and all that it starts into a network of its own, loopback up.

    For a process with one thread. False where that is not allowed, and nothing has changed then:
    it is tried out in a child first.
    """
    if sys.platform != "linux":
        return False
    child = os.fork()
    if child == 0:
        try:
            _leave()
        except OSError:
            os._exit(1)
        os._exit(0)
    if os.waitpid(child, 0)[1] != 0:
        return False
    _leave()
    return True


def _leave() -> None:
    import ctypes
    import fcntl

    libc = ctypes.CDLL(None, use_errno=True)
    uid, gid = os.geteuid(), os.getegid()
    is_root = libc.unshare(_CLONE_NEWNET) == 0
    if not is_root:
        if libc.unshare(_CLONE_NEWUSER | _CLONE_NEWNET) != 0:
            raise OSError(ctypes.get_errno(), "unshare")
        own = Path("/proc/self")
        (own / "setgroups").write_text("deny", encoding="ascii")
        (own / "uid_map").write_text(f"{uid} {uid} 1", encoding="ascii")
        (own / "gid_map").write_text(f"{gid} {gid} 1", encoding="ascii")
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_socket:
        fcntl.ioctl(any_socket, _SIOCSIFFLAGS, struct.pack("16sh14x", b"lo", _IFF_UP))
    if not is_root:
        # A new user namespace begins with every capability, files' permissions included.
        header = struct.pack("Ii", _CAPABILITY_VERSION, 0)
        if libc.capset(header, bytes(24)) != 0:
            raise OSError(ctypes.get_errno(), "capset")


def block_network() -> None:
    """Refuse connections and look-ups beyond this machine, for the rest of this process.

    It guards Python's sockets, so also every library above them, and says in plain words what is
    wrong. Code that opens sockets in C, and programs that the system starts, are `leave_network`'s.
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
