"""Text of others on a terminal: nothing in it acts, and nothing in it is hidden."""

from __future__ import annotations

import json
import unicodedata

import duckdb
import pytest

from evalake_cli.output import format_cell, print_json, say
from evalake_reports.report.tables import whole
from evalake_warehouse.lake.reader import sql_literal
from evalake_warehouse.shown import shown

# Everything that a terminal, a browser or Vega may act on, and what must survive it.
HOSTILE = "a\x00b\x1b[31mc\x07d\x9b2Je\u2028f\u2029g\u202eh\u2066i\u200bj\ufeffk\ud800l\r\nm\tn"


def test_every_invisible_character_is_written_out_and_every_other_one_stays() -> None:
    harmless = "\u200c\u200d\u00ad"  # joiners of scripts and emoji, soft hyphen
    for code in range(0x110000):
        char = chr(code)
        category = unicodedata.category(char)
        is_nothing = code & 0xFFFE == 0xFFFE or 0xFDD0 <= code <= 0xFDEF
        if category == "Cn" and not is_nothing:
            continue  # later versions of Unicode than Python's say what it is
        odd = is_nothing or (category in {"Cc", "Cf", "Zl", "Zp", "Cs"} and char not in harmless)
        assert (shown(char) != char) == odd, hex(code)


def test_what_is_written_out_can_be_read() -> None:
    assert shown("a\x1b\u202e\U000e0041\n\ud800é") == "a\\x1b\\u202e\\U000e0041\\n\ufffdé"
    assert shown("a\r\nb\tc\r\x1b", lines=True) == "a\nb\tc\\r\\x1b"


def test_texts_of_every_script_stay_as_they_are() -> None:
    text = "日本語 עברית العربية 👩‍💻 naïve 1\u202f000 \u00a0"
    assert shown(text) == text


def test_a_thousand_is_shown_with_a_thin_space_and_not_its_escape() -> None:
    assert format_cell(whole(1000)) == "1\u202f000"


def test_json_for_a_terminal_means_the_same_to_a_program(
    capsys: pytest.CaptureFixture[str],
) -> None:
    value = {HOSTILE.replace("\ud800", ""): [HOSTILE, "日本 😀", 1.5, None]}
    print_json(value)
    out = capsys.readouterr().out
    assert json.loads(out) == value
    assert shown(out, lines=True) == out
    assert "日本 😀" in out


def test_a_message_cannot_steer_the_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    say(f"error: {HOSTILE}")
    err = capsys.readouterr().err
    assert err.rstrip("\n").count("\n") == 1  # the line end that the text has
    assert not {char for char in err if unicodedata.category(char) == "Cc"} - {"\n", "\t"}


@pytest.mark.parametrize(
    "text", ["it's", "a\0b", "\0", "'; drop table t; --", "\\", '"', "{{ x }}", ""]
)
def test_any_text_is_an_sql_literal(text: str) -> None:
    with duckdb.connect() as connection:
        assert connection.execute(f"select {sql_literal(text)}").fetchone() == (text,)
