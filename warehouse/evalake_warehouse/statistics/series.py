"""Series of task scores: many per-task score lists held as flat arrays, and cut into blocks."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from evalake_warehouse.statistics.mixer import random_words

SCORE_UNIT = 1_000_000  # scores are whole numbers of millionths
_FINGERPRINT_STREAM = 2
_OWN_BLOCK = 8  # series over one task set that are worth a matrix without gaps
_MAX_CELLS = 4_000_000  # of a block's matrix, so that a block takes some 100 MB


@dataclass(frozen=True, slots=True)
class Series:
    """Scores of many series, one after the other, each ordered by task seed.

    starts: shape (n_series + 1,). Series i is at [starts[i], starts[i + 1]) of the flat arrays.
    task_seeds, scores: flat; scores in millionths, so that every sum is exact.
    strata: flat; a number per stratum, -1 where a task has none.
    """

    starts: NDArray[np.int64]
    task_seeds: NDArray[np.int64]
    scores: NDArray[np.int64]
    strata: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.starts) - 1

    @property
    def sizes(self) -> NDArray[np.int64]:
        """Tasks of each series."""
        return np.diff(self.starts)


@dataclass(frozen=True, slots=True)
class Block:
    """Series that share columns. `scores[i, j]` is series `rows[i]` on task `task_seeds[j]`."""

    rows: NDArray[np.int64]
    task_seeds: NDArray[np.int64]
    strata: NDArray[np.int64]
    scores: NDArray[np.float64]
    present: NDArray[np.float64] | None  # 0 where a series lacks the task; None: nothing lacks

    def only(self, places: NDArray[np.int64]) -> Block:
        """The same columns for some of the series."""
        return Block(
            rows=self.rows[places],
            task_seeds=self.task_seeds,
            strata=self.strata,
            scores=self.scores[places],
            present=None if self.present is None else self.present[places],
        )


def blocks(series: Series) -> Iterator[Block]:
    """Cut series into blocks: those over the same tasks together, the odd ones pooled."""
    pooled: list[NDArray[np.int64]] = []
    for group in _groups_by_task_set(series):
        if len(group) < _OWN_BLOCK:
            pooled.append(group)
            continue
        size = series.sizes[group[0]]
        columns = slice(series.starts[group[0]], series.starts[group[0] + 1])
        for rows in _in_parts(group, size):
            places = series.starts[rows][:, None] + np.arange(size)
            yield Block(
                rows=rows,
                task_seeds=series.task_seeds[columns],
                strata=series.strata[columns],
                scores=series.scores[places].astype(np.float64),
                present=None,
            )
    if pooled:
        n_tasks = len(np.unique(series.task_seeds))
        for rows in _in_parts(np.concatenate(pooled), n_tasks):
            yield _padded(series, rows)


def _in_parts(rows: NDArray[np.int64], n_tasks: int) -> list[NDArray[np.int64]]:
    n_parts = -(-len(rows) * n_tasks // _MAX_CELLS)
    return np.array_split(rows, min(n_parts, len(rows)))


def _groups_by_task_set(series: Series) -> Iterator[NDArray[np.int64]]:
    """Numbers of the series that have exactly the same tasks in the same strata."""
    filled = np.flatnonzero(series.sizes)
    if not len(filled):
        return
    names = np.stack([series.task_seeds, series.strata], axis=1)
    words = [
        random_words(names[:, column], np.arange(2), stream=_FINGERPRINT_STREAM, seed=column)
        for column in range(2)
    ]
    mixed = words[0].astype(np.uint64) + (words[1].astype(np.uint64) << np.uint64(1))
    mixed = mixed[:, 0] << np.uint64(32) ^ mixed[:, 1]
    sums = np.add.reduceat(mixed, series.starts[filled])
    _, group_of = np.unique(
        np.stack([sums, series.sizes[filled].astype(np.uint64)]), axis=1, return_inverse=True
    )
    order = np.argsort(group_of, kind="stable")
    edges = np.flatnonzero(np.diff(group_of[order])) + 1
    yield from np.split(filled[order], edges)


def _padded(series: Series, rows: NDArray[np.int64]) -> Block:
    """A block over every task of any of `rows`."""
    sizes = series.sizes[rows]
    row_of = np.repeat(np.arange(len(rows)), sizes)
    places = np.concatenate([np.arange(series.starts[row], series.starts[row + 1]) for row in rows])
    names = np.stack([series.task_seeds[places], series.strata[places]])
    tasks, column_of = np.unique(names, axis=1, return_inverse=True)
    scores = np.zeros((len(rows), tasks.shape[1]))
    present = np.zeros_like(scores)
    scores[row_of, column_of] = series.scores[places]
    present[row_of, column_of] = 1
    return Block(rows, tasks[0], tasks[1], scores, present)
