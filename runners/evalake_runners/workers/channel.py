"""Messages over a socket: a mark, a length, and that many bytes.

The mark tells bytes that a system wrote to a descriptor that is not its own from a message.
"""

from __future__ import annotations

import select
import socket
import struct
import time

MAX_MESSAGE_BYTES = 256 * 2**20

_HEADER = struct.Struct("!4sQ")
_MARK = b"elk1"


class ChannelClosedError(Exception):
    """The other end is gone."""


class BadMessageError(Exception):
    """Bytes came that are no message; nothing that follows them can be read."""


class Channel:
    """One end of a connection."""

    def __init__(self, end: socket.socket) -> None:
        self._end = end
        self._end.setblocking(False)
        self._header = bytearray()
        self._body: bytearray | None = None
        self._at = 0

    def fileno(self) -> int:
        """For `select` and its like; -1 once closed."""
        return self._end.fileno()

    def close(self) -> None:
        """Close this end."""
        self._end.close()

    def send(self, message: bytes, *, deadline: float | None = None) -> None:
        """Send one message.

        Args:
            deadline: of `time.monotonic`; None to wait as long as it takes.

        Raises:
            ChannelClosedError: nobody reads any more.
            TimeoutError: the other end did not take it in time.
        """
        for part in (_HEADER.pack(_MARK, len(message)), message):
            left = memoryview(part)
            while left:
                self._wait(select.POLLOUT, deadline)
                try:
                    left = left[self._end.send(left) :]
                except BlockingIOError:
                    continue
                except OSError as error:
                    raise ChannelClosedError from error

    def receive(self, *, deadline: float | None = None) -> bytearray:
        """The next message.

        Raises:
            ChannelClosedError: the other end is gone.
            BadMessageError: what came is no message.
            TimeoutError: it was not there in time.
        """
        while (message := self.take()) is None:
            self._wait(select.POLLIN, deadline)
        return message

    def take(self) -> bytearray | None:
        """The next message if all of it has come, without waiting.

        Raises:
            ChannelClosedError, BadMessageError: as `receive`.
        """
        while self._body is None:
            more = self._read(_HEADER.size - len(self._header))
            if more is None:
                return None
            self._header += more
            if len(self._header) == _HEADER.size:
                self._begin(*_HEADER.unpack(self._header))
            elif not _MARK.startswith(self._header[: len(_MARK)]):
                raise BadMessageError("it does not begin like a message")
        while self._at < len(self._body):
            try:
                n_read = self._end.recv_into(memoryview(self._body)[self._at :])
            except BlockingIOError:
                return None
            except OSError as error:
                raise ChannelClosedError from error
            if not n_read:
                raise ChannelClosedError
            self._at += n_read
        message, self._body = self._body, None
        return message

    def wait(self, patience_s: float) -> None:
        """Wait until something has come, or the other end is gone, or so long."""
        poll = select.poll()
        poll.register(self._end, select.POLLIN)
        poll.poll(patience_s * 1000)

    def _begin(self, mark: bytes, length: int) -> None:
        if mark != _MARK:
            raise BadMessageError("it does not begin like a message")
        if length > MAX_MESSAGE_BYTES:
            raise BadMessageError(f"it claims to be {length} bytes long")
        self._header.clear()
        self._body, self._at = bytearray(length), 0

    def _read(self, n_bytes: int) -> bytes | None:
        try:
            more = self._end.recv(n_bytes)
        except BlockingIOError:
            return None
        except OSError as error:
            raise ChannelClosedError from error
        if not more:
            raise ChannelClosedError
        return more

    def _wait(self, kind: int, deadline: float | None) -> None:
        poll = select.poll()
        poll.register(self._end, kind)
        left = None if deadline is None else deadline - time.monotonic()
        if (left is not None and left <= 0) or not poll.poll(None if left is None else left * 1000):
            raise TimeoutError
