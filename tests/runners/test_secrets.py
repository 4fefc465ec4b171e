"""Ten planted secrets are found nowhere: lake, logs, indexes, warehouse, baseline, report."""

from __future__ import annotations

import json
from pathlib import Path

import duckdb
import pyarrow.parquet as pq
import pytest
from toy import Ended, Sweep, evalake

from evalake_warehouse.project import Project

KEY_BODY = "MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIB"
# In the environment: told by the system word for word, and by what it returns.
ENVIRONMENT = {
    "MY_API_KEY": "planted-api-key-01",
    "DBPASS": "pl4nt",
    "FOO_PAT": "planted_pat_03",
    "DATABASE_URL": "postgres://planted04:pa/ss@word04@db.example:5432/x",
    "GCP_SERVICE_ACCOUNT_KEY": json.dumps(
        {
            "type": "service_account",
            "private_key": f"-----BEGIN PRIVATE KEY-----\n{KEY_BODY}\n-----END PRIVATE KEY-----\n",
        }
    ),
}
# In nobody's environment: known by their shape.
SHAPES = (
    "AKIAPLANTED06EXAMPLE with wPlantedtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY; access_key=planted07;"
    " eyJwbGFudGVkMDgi.eyJwbGFudGVkIjoxfQ.planted08; https://planted09@github.com/o/r;"
    " Authorization: Bearer planted10.x"
)
CONFIGURED = "planted-field-11"
PLANTED = (
    "planted-api-key-01", "pl4nt", "planted_pat_03", "ss@word04", KEY_BODY,
    "AKIAPLANTED06EXAMPLE", "wPlantedtnFEMI", "planted07", "eyJwbGFudGVkMDgi", "planted09",
    "planted10", CONFIGURED, "plain-in-config",
)  # fmt: skip

SWEEP = f"""\
name: leaks
datasets: [{{dataset: toy, split: all}}]
arms:
  - system: python:leaking
    label: leaking
    config:
      password: {CONFIGURED}
      names: {json.dumps(list(ENVIRONMENT))}
      shapes: {json.dumps(SHAPES)}
  - {{system: random}}
baseline: random
"""


@pytest.mark.dbt
def test_planted_secrets_are_found_nowhere(
    toy: Project, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # A folder that is no one's checkout: the sweep file itself is the user's, and stays outside.
    outside = tmp_path / "outside"
    outside.mkdir()
    sweep = Sweep(outside, SWEEP)
    answers = outside / "answers.jsonl"
    hit = {"doc_id": "d", "title": SHAPES, "text": "text " + ENVIRONMENT["MY_API_KEY"]}
    answers.write_text(
        json.dumps({"task_id": "task-00000", "hits": [hit]})
        + "\n"
        + json.dumps({"task_id": "task-00001", "status": "error", "reason": SHAPES + "pl4nt"})
    )
    baselines = outside / "baselines"
    ended = [
        _do(toy, baselines, "run", str(sweep.path), "--confirm", f"because {SHAPES} pl4nt"),
        _do(toy, baselines, "import", "jsonl", "--dataset", "toy", "--run", str(answers),
            "--label", "imported", "--depth", "10"),
        _do(toy, baselines, "build"),
        _do(toy, baselines, "baseline", "freeze", "leaking"),
        _do(toy, baselines, "report", "--full", "--output", str(baselines / "report.html")),
        _do(toy, baselines, "report", "--output", str(baselines / "report.json")),
        _do(toy, baselines, "runs", "show", "leaking", "--json"),
        _do(toy, baselines, "sql", "select * from lake.hits", "--json"),
    ]  # fmt: skip
    assert [done.code for done in ended] == [3, 0, 0, 0, 0, 0, 0, 0], ended
    assert sorted(file.name for file in baselines.iterdir()) == [
        "report.html", "report.json", "toy-all.json"
    ]  # fmt: skip
    told = "\n".join(f"{done.out}\n{done.err}" for done in ended)
    places = {"output": told}
    for file in [*_files(toy.home), *_files(baselines)]:
        places[str(file)] = _content(file)
    assert "text ***" in "".join(places.values())  # the system was asked, and did tell
    assert [
        f"{secret} in {at}" for at in places for secret in PLANTED if secret in places[at]
    ] == []


def _do(project: Project, baselines: Path, *arguments: str) -> Ended:
    return evalake(project, *arguments, EVALAKE_BASELINES=str(baselines), **ENVIRONMENT)


def _files(folder: Path) -> list[Path]:
    return [file for file in sorted(folder.rglob("*")) if file.is_file()]


def _content(file: Path) -> str:
    """What is in a file, as text; packed formats unpacked."""
    if file.suffix == ".parquet":
        return str(pq.read_table(file).to_pylist())
    if file.suffix == ".duckdb":
        with duckdb.connect(str(file), read_only=True) as connection:
            tables = connection.execute(
                "select schema_name, table_name from duckdb_tables() where not internal"
            ).fetchall()
            return "\n".join(
                str(connection.execute(f'select * from "{schema}"."{name}"').fetchall())
                for schema, name in tables
            )
    return file.read_bytes().decode("utf-8", "replace")
