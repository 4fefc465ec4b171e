"""Which columns of the lake hold text from outside, and how secrets are kept out of each.

Every table passes here on its way to disk, so no writer can forget it.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from evalake_warehouse.identity import canonical_json
from evalake_warehouse.scrub import scrub, scrub_evidence, scrub_tree
from evalake_warehouse.secrets import known_secrets

# Told by a system, a service or a person in their own words: values of secrets and shapes of keys.
FREE_TEXT: Mapping[str, frozenset[str]] = {
    "runs": frozenset({"command", "device", "provenance"}),
    "index_events": frozenset({"reason"}),
    "attempts": frozenset({"reason", "call"}),
    "hits": frozenset({"title", "reason"}),
    "looks": frozenset({"who", "why"}),
}
# JSON of a configuration: every text in it, and whatever stands under the name of a secret.
CONFIGURATION: Mapping[str, frozenset[str]] = {
    "runs": frozenset({"config_json"}),
    "index_events": frozenset({"counts_json"}),
}
# What was asked and what came back. Relevance is decided by it, so only the values of secrets go:
# text about passwords is full of what looks like them.
EVIDENCE: Mapping[str, frozenset[str]] = {
    "datasets": frozenset({"source", "licence", "citation"}),
    "tasks": frozenset({"query", "query_variants_json", "labels_json"}),
    "gold": frozenset({"evidence"}),
    "drops": frozenset({"source_row", "evidence"}),
    "corpora": frozenset({"origin"}),
    "corpus_files": frozenset({"detail"}),
    "texts": frozenset({"text"}),
    "runs": frozenset(
        {
            "arm_label", "system", "system_version", "adapter_version", "config_files_json",
            "packages_json", "host_json", "branches_json",
        }
    ),
    "attempts": frozenset({"resolved_library"}),
    "hits": frozenset({"item_id", "raw_path", "path", "qualified_name", "doc_id", "branch"}),
}  # fmt: skip


def scrubbed(table_name: str, data: pa.Table) -> pa.Table:
    """The table without secrets in the columns that hold text from outside."""
    for column in FREE_TEXT.get(table_name, ()):
        data = _with(data, column, scrub)
    for column in CONFIGURATION.get(table_name, ()):
        data = _with(data, column, _scrub_json)
    secrets = [value.encode("utf-8", "replace") for value in known_secrets().strong]
    for column in EVIDENCE.get(table_name, ()) if secrets else ():
        if _holds_any(data.column(column), secrets):
            is_json = column.endswith("_json")
            data = _with(data, column, _scrub_json_evidence if is_json else scrub_evidence)
    return data


def _with(data: pa.Table, name: str, clean: Callable[[str], str]) -> pa.Table:
    """The table with each distinct value of a column cleaned once."""
    column = data.column(name)
    encoded = pc.dictionary_encode(column).combine_chunks()
    chunks = encoded.chunks if isinstance(encoded, pa.ChunkedArray) else [encoded]
    arrays = []
    for chunk in chunks:
        values = [None if value is None else clean(value) for value in chunk.dictionary.to_pylist()]
        arrays.append(pa.array(values, pa.string()).take(chunk.indices))
    index = data.schema.get_field_index(name)
    return data.set_column(index, data.schema.field(name), pa.chunked_array(arrays, pa.string()))


def _holds_any(column: pa.ChunkedArray, secrets: Iterable[bytes]) -> bool:
    """Whether the bytes of a column hold one; a match over two values is looked into in vain."""
    for chunk in column.chunks:
        buffer = chunk.buffers()[2]
        content = b"" if buffer is None else buffer.to_pybytes()
        if any(secret in content for secret in secrets):
            return True
    return False


def _scrub_json(text: str) -> str:
    return _rewritten(text, scrub_tree)


def _scrub_json_evidence(text: str) -> str:
    return _rewritten(text, _evidence_tree)


def _rewritten(text: str, clean: Callable[[Any], Any]) -> str:
    """The JSON with each text value cleaned; the text unchanged where no value changes."""
    before = json.loads(text)
    after = clean(before)
    return text if after == before else canonical_json(after)


def _evidence_tree(value: object) -> object:
    if isinstance(value, str):
        return scrub_evidence(value)
    if isinstance(value, dict):
        return {scrub_evidence(key): _evidence_tree(item) for key, item in value.items()}
    return [_evidence_tree(item) for item in value] if isinstance(value, list) else value
