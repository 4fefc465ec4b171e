"""The scrubber: which texts are secrets, and which only look a little like them."""

from __future__ import annotations

import json
import time
from datetime import date
from pathlib import Path

import pyarrow as pa
import pytest
from pydantic import BaseModel, SecretStr

from evalake_warehouse.lake.schemas import TABLES
from evalake_warehouse.lake.scrubbing import CONFIGURATION, EVIDENCE, FREE_TEXT, scrubbed
from evalake_warehouse.lake.writer import write_rows
from evalake_warehouse.scrub import scrub, scrub_evidence, scrub_lines, scrub_tree
from evalake_warehouse.secrets import is_secret_name, known_secrets, remember_secrets

PEM = "-----BEGIN PRIVATE KEY-----\nMIIEvQIBADANBgkq\nhkiG9w0BAQEFAASC\n-----END PRIVATE KEY-----\n"


@pytest.mark.parametrize(
    ("text", "secret"),
    [
        ("id AKIAIOSFODNN7EXAMPLE", "AKIAIOSFODNN7EXAMPLE"),
        (
            "AKIAIOSFODNN7EXAMPLE, wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY",
            "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY",
        ),
        ("GET /x?access_key=abc/def+1 failed", "abc/def+1"),
        ("Bad token eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2ln", "eyJzdWIiOiIxIn0"),
        ("clone https://TOKEN12@github.com/o/r failed", "TOKEN12"),
        ("postgres://user:p/a@ss@db:5432/x refused", "p/a@ss"),
        ("ftp://h.org/?via=http://u:pw1@h failed", "pw1"),
        ("cannot connect admin:s3/c@r3t@db.example.com", "s3/c@r3t"),
        (json.dumps({"type": "service_account", "private_key": PEM}), "MIIEvQIBADANBgkq"),
        (PEM, "hkiG9w0BAQEFAASC"),
        ("hkiG9w0BAQEFAASCBKcw\n-----END RSA PRIVATE KEY-----", "hkiG9w0BAQEFAASC"),
        ("Authorization: Bearer abc def", "abc def"),
        ("-H 'x-api-key: zz top'", "zz top"),
        ("basic dXNlcjpwYXNz", "dXNlcjpwYXNz"),
        ("Cookie: sid=1; theme=dark", "sid=1"),
        ("ghp_0123456789abcdef", "0123456789abcdef"),
        ("github_pat_11ABCDEFG0abcdef", "11ABCDEFG0abcdef"),
        ("sk-proj-abcd1234efgh", "abcd1234efgh"),
        ("xoxb-123-456-abcdef", "456-abcdef"),
        ("connect(password='it is \"x', user='u')", 'it is "x'),
        ('{\\"api_key\\": \\"zzz9\\"}', "zzz9"),
        ("AccountName=x;AccountKey=abc==;E=1", "abc=="),
    ],
)
def test_what_has_the_shape_of_a_key_is_taken_out(text: str, secret: str) -> None:
    assert secret in text
    assert secret not in scrub(text, {})


@pytest.mark.parametrize(
    "text",
    [
        "Basic Tutorial on authentication", "Bearer authentication", "max_tokens=5, tokens: 3",
        "https://esm.sh/react@18", "https://h.org:8080/p@v1", "git@github.com:o/r.git",
        "KeyError: 'foo'", "sqlite:///x.db", "sha256 " + "0123456789abcdef" * 4,
        "src/pkg/tokens.py:12", "keyboard, monkey and compass",
    ],
)  # fmt: skip
def test_what_only_looks_like_a_key_stays(text: str) -> None:
    assert scrub(text, {}) == text


@pytest.mark.parametrize(
    "name",
    ["DBPASS", "FOO_PAT", "OPENAI_API_KEY", "X_TOKEN", "APIKEY2", "DATABASE_URL", "MY_SECRETS",
     "SENTRY_DSN", "SESSION_COOKIE", "GCP_CREDENTIALS", "PGPASSWORD", "api-key"],
)  # fmt: skip
def test_a_name_says_that_its_value_is_secret(name: str) -> None:
    assert is_secret_name(name)


@pytest.mark.parametrize(
    "name", ["PATH", "PWD", "OLDPWD", "KEYBOARD", "HOME", "TOKENIZERS_PARALLELISM"]
)
def test_a_name_of_something_else_does_not(name: str) -> None:
    assert not is_secret_name(name)


def test_a_value_goes_in_every_spelling() -> None:
    environment = {"DBPASS": "a b/c\n1"}
    told = "a b/c\n1 | a%20b%2Fc%0A1 | a+b%2Fc%0A1 | a b/c\\n1"
    assert scrub(told, environment) == "*** | *** | *** | ***"


def test_a_short_value_goes_only_as_a_word_and_a_common_one_not_at_all() -> None:
    environment = {"DBPASS": "pw1", "AUTH": "true", "USE_KEY": "1", "AUTH_TYPE": "basic"}
    told = "pw1 xpw1 true 1 basic"
    assert scrub(told, environment) == "*** xpw1 true 1 basic"


def test_the_password_of_an_address_is_secret_whatever_the_variable_is_called() -> None:
    assert scrub("no p/a@ss1", {"UPSTREAM": "http://u:p/a@ss1@h"}) == "no ***"


def test_a_key_file_in_a_variable_is_secret_line_by_line() -> None:
    value = json.dumps({"client_email": "a@b.c", "private_key": PEM})
    assert scrub("line MIIEvQIBADANBgkq", {"GCP_CREDENTIALS": value}) == "line ***"


def test_a_folder_that_exists_is_no_secret(tmp_path: Path) -> None:
    assert scrub(f"{tmp_path}/x.py", {"KEY_DIR": str(tmp_path)}) == f"{tmp_path}/x.py"


def test_evidence_loses_values_and_keeps_shapes() -> None:
    environment = {"DBPASS": "hunter22", "AUTH_USER": "click"}
    told = "hunter22 password=abc src/click/core.py"
    assert scrub_evidence(told, environment) == "*** password=abc src/click/core.py"


def test_a_secret_field_of_a_configuration_is_known_from_then_on() -> None:
    class Inner(BaseModel):
        tokens: list[SecretStr]

    class Config(BaseModel):
        inner: Inner

    remember_secrets(Config(inner=Inner(tokens=[SecretStr("field-value-77")])))
    assert scrub("it was field-value-77", {}) == "it was ***"
    assert "field-value-77" in known_secrets({}).strong


def test_a_configuration_is_masked_by_the_names_of_its_keys() -> None:
    config = {"api_key": "zz", "password": "set", "depth": 5, "in": [{"token": "zz", "k": "zz"}]}
    masked = {"api_key": "***", "password": "set", "depth": 5, "in": [{"token": "***", "k": "zz"}]}
    assert scrub_tree(config) == masked


def test_a_log_loses_a_key_block_that_goes_over_lines() -> None:
    log = f"before\n{PEM}after password=x1\n"
    assert list(scrub_lines(log.splitlines())) == ["before", "***", "after password=***"]


@pytest.mark.parametrize(
    "part", ["a-", "a.", "key", 'password="', "-----END ", "://", "a:b", "-----BEGIN a ", 'a\\"',
             "x-", "basic ", "A1", "@"],
)  # fmt: skip
def test_no_text_makes_scrubbing_slow(part: str) -> None:
    started = time.process_time()
    scrub(part * (200_000 // len(part)) + " token@", {})
    # Half a second for 200 kB leaves room for a loaded machine; a quadratic pattern needs minutes.
    assert time.process_time() - started < 5


def test_every_text_column_of_the_lake_is_scrubbed_or_known_to_be_ours() -> None:
    ours = {
        "dataset", "edition", "revision", "loader_version", "sha256", "strata_label",
        "primary_level", "primary_metric", "default_split", "task_id", "kind", "corpus_id", "repo",
        "library", "qa_type", "qa_subtype", "stratum", "gold_id", "level", "role", "truth_method",
        "relation", "key", "path", "reason", "commit", "status", "qualified_name", "symbol",
        "symbol_kind", "fingerprint", "rule_version", "split", "rule", "text_sha256", "origin",
        "run_id", "event", "arm_hash", "query_variant", "output", "evalake_version", "git_sha",
        "sweep_id", "family", "ingestion_hash", "payload_sha256", "phase", "temperature",
        "path_status", "gold_sha256", "scorer", "scorer_version", "batch", "arrival_id",
        "selection_json", "language", "network_block",
    }  # fmt: skip
    for name, table in TABLES.items():
        texts = {field.name for field in table.schema if field.type == pa.string()}
        cleaned = FREE_TEXT.get(name, frozenset()) | CONFIGURATION.get(name, frozenset())
        unknown = texts - cleaned - EVIDENCE.get(name, frozenset()) - ours
        assert not unknown, f"{name}: name them in lake/scrubbing.py, or here if evalake makes them"


def test_a_lake_file_holds_no_secret_and_its_json_stays_json(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FOO_PAT", "planted-value-1")
    row = {
        "dataset": "toy", "run_id": "r", "corpus_id": "c", "ingestion_hash": "i",
        "status": "error", "cache_hit": False, "at": None,
        "counts_json": '{"planted-value-1":1,"token":"x","said":"password=abc\\" ok"}',
        "reason": "planted-value-1 and password=abc",
    }  # fmt: skip
    schema = TABLES["index_events"].schema
    data = pa.Table.from_pylist([row], schema=pa.schema([f.with_nullable(True) for f in schema]))
    cleaned = scrubbed("index_events", data)
    assert cleaned.schema.names == schema.names
    (found,) = cleaned.to_pylist()
    assert found["reason"] == "*** and password=***"
    counts = json.loads(found["counts_json"])
    assert counts == {"***": 1, "token": "***", "said": 'password=***" ok'}


def test_a_row_that_is_written_is_scrubbed_on_its_way(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DBPASS", "planted-value-2")
    hit = {
        "dataset": "toy", "run_id": "r", "task_id": "t", "attempt": 1, "rank": 1,
        "item_id": "doc planted-value-2", "title": "token=abc", "reason": None,
    }  # fmt: skip
    file = write_rows(tmp_path, "hits", [hit], dataset="toy", run_date=date(2026, 1, 2), stem="r")
    assert file is not None
    (row,) = pa.parquet.read_table(file).to_pylist()
    assert (row["item_id"], row["title"], row["reason"]) == ("doc ***", "token=***", None)
