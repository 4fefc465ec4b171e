"""Random numbers that are a function of their names: (task, resample, seed), nothing else.

A resample's weight for a task must not depend on which other tasks exist, on the order rows
arrive in or on the library at hand, so no generator with a state is used and no `hash()`.
All arithmetic is on 32-bit words, which SQL does in UBIGINT without overflow: the macro
`stat_mix32` and this module give the same bits.

    mix(x):  x ^= x >> 16;  x *= 0x7feb352d;  x ^= x >> 15;  x *= 0x846ca68b;  x ^= x >> 16
    draw_key(stream, draw, seed) = mix(mix(mix(seed) ^ stream) ^ draw)
    word = mix(mix(draw_key ^ (task_seed mod 2**32)) ^ (task_seed div 2**32))

Everything is modulo 2**32. `stream` keeps uses apart: 0 is bootstrap weights, 1 signs.
A Poisson(1) weight is the number of `POISSON_THRESHOLDS` that are at most `word`.

Source:
    The finaliser is `lowbias32` by Chris Wellons, "Prospecting for Hash Functions" (2018).
    Poisson weights: Chamandy et al., "Estimating Uncertainty for Massive Data Streams" (2012).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Words = NDArray[np.uint32]

BOOTSTRAP_STREAM = 0
SIGN_STREAM = 1


# P(X <= k) of Poisson(1) for k from 0, times 2**32 and rounded, as far as it is below 2**32.
POISSON_THRESHOLDS = (
    1580030169, 3160060337, 3950075422, 4213413783, 4279248374, 4292415292,
    4294609778, 4294923276, 4294962463, 4294966817, 4294967253, 4294967292,
)  # fmt: skip


def mix32(words: Words) -> Words:
    """Scramble each 32-bit word; a bijection."""
    words = words ^ (words >> np.uint32(16))
    words *= np.uint32(0x7FEB352D)
    words ^= words >> np.uint32(15)
    words *= np.uint32(0x846CA68B)
    words ^= words >> np.uint32(16)
    return words


def random_words(
    task_seeds: NDArray[np.int64], draws: NDArray[np.int64], *, stream: int, seed: int
) -> Words:
    """Uniform 32-bit words.

    Args:
        task_seeds: shape (n_tasks,), each in [0, 2**63).
        draws: shape (n_draws,), the resample numbers, from 0.
        stream: what the words are for.
        seed: in [0, 2**32).

    Returns:
        shape (n_tasks, n_draws).
    """
    low = (task_seeds & 0xFFFFFFFF).astype(np.uint32)
    high = (task_seeds >> 32).astype(np.uint32)
    start = mix32(mix32(np.array([seed], dtype=np.uint32)) ^ np.uint32(stream))
    draw_keys = mix32(start ^ draws.astype(np.uint32))
    return mix32(mix32(low[:, None] ^ draw_keys[None, :]) ^ high[:, None])


def poisson_weights(
    task_seeds: NDArray[np.int64], *, resamples: int, seed: int
) -> NDArray[np.float64]:
    """Bootstrap weights of each task in each resample.

    Returns:
        shape (n_tasks, resamples), whole numbers from 0 to 12, as floats for the matrix product.
    """
    words = random_words(task_seeds, np.arange(resamples), stream=BOOTSTRAP_STREAM, seed=seed)
    counts = np.zeros(words.shape, dtype=np.uint8)
    for threshold in POISSON_THRESHOLDS:
        counts += words >= np.uint32(threshold)
    return counts.astype(np.float64)


def random_signs(
    task_seeds: NDArray[np.int64], *, first: int, count: int, seed: int
) -> NDArray[np.float64]:
    """Fair signs of each task in draws `first` to `first + count - 1`.

    Draw d is bit `d mod 32` of word `d div 32`, so a draw's signs do not depend on how the
    draws are cut into blocks. `first` and `count` are multiples of 32.

    Returns:
        shape (n_tasks, count), each -1 or 1.
    """
    numbers = np.arange(first // 32, (first + count) // 32)
    words = random_words(task_seeds, numbers, stream=SIGN_STREAM, seed=seed)
    bits = (words[:, :, None] >> np.arange(32, dtype=np.uint32)) & np.uint32(1)
    signs: NDArray[np.float64] = 1.0 - 2.0 * bits.reshape(len(task_seeds), count).astype(np.float64)
    return signs
