"""What a worker says to evalake: JSON on the way, checked field by field where it arrives.

Nothing that crosses is unpickled in evalake's own process, so no code of a system runs there.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any

from evalake_runners.adapters.protocol import IndexReport
from evalake_runners.workers import fields
from evalake_runners.workers.answers import PackedAnswer, PackedSpending, pack_report
from evalake_runners.workers.channel import MAX_MESSAGE_BYTES, BadMessageError
from evalake_runners.workers.network import NETWORK_BLOCKS
from evalake_runners.workers.packed_hits import hit_columns, read_hits
from evalake_warehouse.errors import EvalakeError, Problem


@dataclass(frozen=True, slots=True)
class Ready:
    """The system was made."""


@dataclass(frozen=True, slots=True)
class Indexed:
    """An index was built."""

    report: IndexReport
    seconds: float


@dataclass(frozen=True, slots=True)
class Opened:
    """An index is open; `network` is what keeps the worker off it (`NETWORK_BLOCKS`)."""

    seconds: float
    network: str


@dataclass(frozen=True, slots=True)
class Answered:
    """A search came to an end."""

    answer: PackedAnswer
    seconds: float
    is_cold: bool


@dataclass(frozen=True, slots=True)
class Failed:
    """The system raised, or what it returned is wrong."""

    reason: str
    spending: PackedSpending | None = None
    is_attempted: bool = True  # False where the system does not claim to answer such a task
    payload: str | None = None  # raw answer that is an error, or could not be read
    call: str | None = None


@dataclass(frozen=True, slots=True)
class Told:
    """A system was described.

    `secrets` are to be kept out of every text from now on. `files` are those of the user's code
    that was loaded for it: the answer is of what they held then.
    """

    value: Any
    secrets: tuple[str, ...] = ()
    files: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Refused:
    """A system cannot be described: it, or its configuration, is at fault."""

    problems: tuple[Problem, ...]
    hint: str | None = None


Reply = Ready | Indexed | Opened | Answered | Failed | Told | Refused


class ReplyTooLargeError(EvalakeError):
    """An answer of more bytes than cross the border."""


def encode_reply(number: int, reply: Reply) -> bytes:
    """A reply to the message of that number.

    Raises:
        ReplyTooLargeError: nobody would take it.
    """
    plain = {"to": number, "kind": type(reply).__name__, **_plain(reply)}
    encoded = json.dumps(plain, ensure_ascii=False, separators=(",", ":")).encode()
    if len(encoded) > MAX_MESSAGE_BYTES:
        size, limit = len(encoded) / 2**20, MAX_MESSAGE_BYTES / 2**20
        raise ReplyTooLargeError(f"the answer has {size:.0f} MiB, more than {limit:.0f} MiB")
    return encoded


def _plain(reply: Reply) -> dict[str, Any]:
    if not isinstance(reply, Answered):
        return asdict(reply)
    plain = asdict(replace(reply, answer=replace(reply.answer, hits=())))
    plain["answer"]["hits"] = hit_columns(reply.answer.hits)
    return plain


def decode_reply(message: bytes | bytearray, *, to: int) -> Reply:
    """The reply to the message of that number.

    Raises:
        BadMessageError: it is no such reply; the text names the field.
    """
    try:
        plain = json.loads(message.decode())
        if not isinstance(plain, dict):
            raise TypeError("it is no object")
        kind = plain.pop("kind")
        if plain.pop("to") != to:
            raise ValueError("it answers another message")
        return _READERS[kind](plain)
    except BadMessageError:
        raise
    except KeyError as error:
        raise BadMessageError(f"it has no {error}") from error
    except (TypeError, ValueError, RecursionError) as error:
        raise BadMessageError(str(error)) from error


def _read_indexed(plain: dict[str, Any]) -> Indexed:
    return Indexed(read_report(plain["report"]), _seconds(plain))


def read_report(plain: object) -> IndexReport:
    """An index report from a message or from an index's own record.

    Raises:
        TypeError, ValueError: it is none; the text names the field.
    """
    if not isinstance(plain, Mapping):
        raise TypeError("the index report is no mapping")
    return pack_report(IndexReport(**plain))


def _read_opened(plain: dict[str, Any]) -> Opened:
    if plain["network"] not in NETWORK_BLOCKS:
        raise ValueError("network is none of the known")
    return Opened(_seconds(plain), plain["network"])


def _read_answered(plain: dict[str, Any]) -> Answered:
    answer = plain["answer"]
    packed = PackedAnswer(
        hits=read_hits(answer["hits"]),
        payload_bytes=fields.optional_count(answer["payload_bytes"], "payload_bytes"),
        payload=fields.optional_text(answer["payload"], "payload"),
        reason=fields.optional_text(answer["reason"], "reason"),
        call=fields.optional_text(answer["call"], "call"),
        resolved_library=fields.optional_text(answer["resolved_library"], "resolved_library"),
        n_tool_calls=fields.optional_count(answer["n_tool_calls"], "n_tool_calls"),
        cost_usd=fields.optional_cost(answer["cost_usd"]),
        covered=fields.optional_bool(answer["covered"], "covered"),
        phase_seconds=fields.seconds_by_phase(answer["phase_seconds"]),
    )
    is_cold = fields.optional_bool(plain["is_cold"], "is_cold")
    return Answered(packed, _seconds(plain), bool(is_cold))


def _read_failed(plain: dict[str, Any]) -> Failed:
    spent = plain["spending"]
    spending = None
    if spent is not None:
        spending = PackedSpending(
            n_tool_calls=fields.optional_count(spent["n_tool_calls"], "n_tool_calls"),
            cost_usd=fields.optional_cost(spent["cost_usd"]),
            phase_seconds=fields.seconds_by_phase(spent["phase_seconds"]),
            is_cold=bool(fields.optional_bool(spent["is_cold"], "is_cold")),
        )
    attempted = fields.optional_bool(plain["is_attempted"], "is_attempted")
    return Failed(
        fields.text(plain["reason"], "reason"),
        spending,
        bool(attempted),
        fields.optional_text(plain["payload"], "payload"),
        fields.optional_text(plain["call"], "call"),
    )


def _read_told(plain: dict[str, Any]) -> Told:
    secrets = fields.sequence(plain["secrets"], "secrets")
    files = fields.sequence(plain["files"], "files")
    return Told(
        plain["value"],
        tuple(fields.text(secret, "a secret") for secret in secrets),
        tuple(fields.text(file, "a file") for file in files),
    )


def _read_refused(plain: dict[str, Any]) -> Refused:
    problems = tuple(
        Problem(fields.text(problem["where"], "where"), fields.text(problem["what"], "what"))
        for problem in fields.sequence(plain["problems"], "problems")
    )
    if not problems:
        raise ValueError("it names no problem")
    return Refused(problems, fields.optional_text(plain["hint"], "hint"))


def _seconds(plain: dict[str, Any]) -> float:
    return fields.amount(plain["seconds"], "seconds", high=fields.MAX_SECONDS)


_READERS: Mapping[str, Callable[[dict[str, Any]], Reply]] = {
    "Ready": lambda _: Ready(),
    "Indexed": _read_indexed,
    "Opened": _read_opened,
    "Answered": _read_answered,
    "Failed": _read_failed,
    "Told": _read_told,
    "Refused": _read_refused,
}
