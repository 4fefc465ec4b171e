"""What is suggested in place of a name that is not there."""

from __future__ import annotations

import pytest

from evalake_warehouse.nearest import did_you_mean, nearest


@pytest.mark.parametrize(
    ("name", "known", "near"),
    [
        ("repoq", ["repoqa-structural", "repoqa", "odex"], ["repoqa"]),
        # Alike by what all names have in common is not near beside the one that is meant.
        ("systems/ripgerp.yaml", ["systems/random.yaml", "systems/ripgrep.yaml"],
         ["systems/ripgrep.yaml"]),
        ("recal@1", ["mrr", "recall@10", "recall@1", "recall@5"],
         ["recall@1", "recall@10"]),  # 14/15 and 14/16 alike; the third, 12/15
        ("BM25", ["bm25", "dense"], ["bm25"]),
        ("graph", ["pydocs dense with graph decay 0.5", "bm25"],
         ["pydocs dense with graph decay 0.5"]),
        ("", ["a", "b"], []),
        ("qqq", ["a", "b"], []),
    ],
)  # fmt: skip
def test_names_are_near_by_their_letters_else_by_what_they_contain(
    name: str, known: list[str], near: list[str]
) -> None:
    assert nearest(name, known) == near


def test_a_message_names_what_is_near_else_all_there_is() -> None:
    assert did_you_mean("mr", ["mrr", "ndcg"]) == "; did you mean `mrr`?"
    assert did_you_mean("x", ["mrr", "ndcg"]) == "; there are: mrr, ndcg"
    assert did_you_mean("x", []) == ""
