"""Sign-flip (paired permutation) test of a mean difference."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from evalake_warehouse.statistics.mixer import random_signs
from evalake_warehouse.statistics.series import Block, Series

EXACT_UP_TO = 16  # non-zero differences: 65,536 sign patterns
_CHUNK = 1_024
_WORD = 32


def exact_sign_flip_p(differences: NDArray[np.int64]) -> float:
    """Two-sided p over every pattern of signs; 1 where nothing differs.

    Args:
        differences: non-zero differences in millionths, at most `EXACT_UP_TO`.
    """
    # A pattern and its opposite are equally extreme, so the first sign can stay as it is.
    sums = differences[:1]
    for difference in differences[1:]:
        sums = np.concatenate([sums + difference, sums - difference])
    if not len(sums):
        return 1.0
    return float(np.count_nonzero(np.abs(sums) >= abs(int(differences.sum()))) / len(sums))


def sampled_sign_flip_p(block: Block, *, draws: int, seed: int) -> NDArray[np.float64]:
    """Two-sided p of each series by seeded draws: (1 + as extreme draws) / (draws + 1).

    Sums are whole numbers, so "as extreme" needs no tolerance.

    Source:
        Davison and Hinkley, Bootstrap Methods and their Application (1997), 4.3.
    """
    observed = np.abs(block.scores.sum(axis=1))[:, None]
    extreme = np.zeros(len(block.rows))
    for first in range(0, draws, _CHUNK):
        wanted = min(_CHUNK, draws - first)
        sums = np.zeros((len(block.rows), wanted))
        for start in range(0, len(block.task_seeds), _CHUNK):
            columns = slice(start, start + _CHUNK)
            count = -(-wanted // _WORD) * _WORD
            signs = random_signs(block.task_seeds[columns], first=first, count=count, seed=seed)
            sums += block.scores[:, columns] @ signs[:, :wanted]
        extreme += np.count_nonzero(np.abs(sums) >= observed, axis=1)
    p: NDArray[np.float64] = (1 + extreme) / (draws + 1)
    return p


def sign_flip_p(series: Series, block: Block, *, draws: int, seed: int) -> NDArray[np.float64]:
    """p of each series of a block: exact where few differences are not zero, else sampled."""
    p = np.full(len(block.rows), np.nan)
    for place, row in enumerate(block.rows):
        scores = series.scores[series.starts[row] : series.starts[row + 1]]
        different = scores[scores != 0]
        if len(different) <= EXACT_UP_TO:
            p[place] = exact_sign_flip_p(different)
    left = np.flatnonzero(np.isnan(p))
    if len(left):
        p[left] = sampled_sign_flip_p(block.only(left), draws=draws, seed=seed)
    return p
