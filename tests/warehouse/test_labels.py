"""What a run may be called."""

from __future__ import annotations

import pytest

from evalake_warehouse.errors import ExitCode, UsageError
from evalake_warehouse.identity import new_run_id
from evalake_warehouse.labels import check_label, label_problem


@pytest.mark.parametrize(
    ("label", "told"),
    [
        ("", "cannot be empty"),
        ("  ", "cannot be empty"),
        (" bm25", "begins or ends with a space"),
        ("bm25\n", "begins or ends with a space"),
        ("bm\n25", "cannot be seen or typed"),
        ("bm\x0025", "cannot be seen or typed"),
        ("bm\u200b25", "cannot be seen or typed"),
        ("bm\u202e25", "cannot be seen or typed"),
        ("bm\ud80025", "cannot be seen or typed"),
        ("x" * 101, "has 101 characters; at most 100"),
        ("latest", "the run that was recorded last"),
        ("Latest", "the run that was recorded last"),
        ("-n", "read as a flag"),
        ("--help", "read as a flag"),
        ("frozen.json", "path of a frozen baseline"),
        ("./frozen", "path of a frozen baseline"),
        ("~/frozen", "path of a frozen baseline"),
        ("0199", "beginning of a run id"),
        ("0199aa3c-12", "beginning of a run id"),
        ("0199AA3C", "beginning of a run id"),
    ],
)
def test_a_label_that_could_not_address_its_run_is_refused(label: str, told: str) -> None:
    with pytest.raises(UsageError, match=told) as caught:
        check_label(label, where="run.jsonl")
    assert caught.value.problems[0].where == "run.jsonl"
    assert caught.value.exit_code is ExitCode.USAGE


def test_an_id_is_no_label_whenever_it_was_made() -> None:
    made = new_run_id()
    assert label_problem(made) == f"label {made!r} would be read as the beginning of a run id"
    assert label_problem(made[:4]) is not None


@pytest.mark.parametrize(
    "label",
    [
        "bm25",
        "x" * 100,
        "latest-2",
        "my latest",
        "a label of words",
        "org/model",
        "python:pkg.mod:fn",
        "größer",
        "f656474",  # a commit
        "cafe",
        "012",  # too short to be a prefix
        "01-10",
        "run.jsonl",
    ],
)
def test_other_labels_are_kept_as_they_are(label: str) -> None:
    assert check_label(label) == label
