"""Columns and types of every mart, read from the contracts in models/marts/*.yml."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import yaml

_MARTS = Path(__file__).parents[2] / "models" / "marts"
_TYPES = {
    "varchar": pa.string(),
    "bigint": pa.int64(),
    "double": pa.float64(),
    "boolean": pa.bool_(),
    "timestamp": pa.timestamp("us"),
}

SCHEMAS: dict[str, pa.Schema] = {
    model["name"]: pa.schema([(c["name"], _TYPES[c["data_type"]]) for c in model["columns"]])
    for file in sorted(_MARTS.glob("*.yml"))
    for model in yaml.safe_load(file.read_text(encoding="utf-8")).get("models", [])
}
