"""Weights of features as a minimal weighted automaton: for model files, and as an `Fst`."""

import zlib
from typing import Any

import numpy as np

from treille import _core
from treille.automata import Fst
from treille.features import FeatureMap, FeatureStrings, StringMap
from treille.features.abilities import having
from treille.io import stored
from treille.io.errors import InputError
from treille.io.machine import EPSILON, MachineParts
from treille.io.open import Budget
from treille.kernels import Kernel

PACKED = ("states", "targets", "classes", "labels")  # arrays of the automaton in a model file
KINDS = {  # and of all arrays there, by type
    "states": "|u1",
    "targets": "|u1",
    "classes": "|u1",
    "labels": "<i4",
    "codebook": "<f8",
    "codes": "<u4",
    "directions": "<f8",
}
LOW_BITS = 1023  # bits of a weight in which equal ratios may differ by rounding


def weight_fst(features: FeatureMap, weights: np.ndarray) -> Fst:
    """The smallest deterministic acceptor that gives the string of feature z ``weights[z]``; strings of weight 0 are left out."""
    kept = np.flatnonzero(weights)
    strings = having(features, StringMap).strings()[kept]
    symbols = [EPSILON, *strings.names]
    if len(kept) == 0:
        return Fst.from_parts(MachineParts.of([], {}, -1, symbols=symbols))
    start, sources, labels, numbers, targets, finals = _minimal(strings, np.zeros(len(kept)), weights[kept]).arcs()
    final = np.flatnonzero(finals).astype(np.int32)
    arrays = (sources, labels + 1, labels + 1, numbers, targets, final, finals[final])
    return Fst.from_parts(MachineParts(start, len(finals), *arrays, "real", symbols, symbols))


def pack_weights(
    features: FeatureMap, kept: np.ndarray, weights: np.ndarray
) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    """Features `kept` and their weights, one column per function, for a model file. `unpack_weights` is the inverse.

    Strings with proportional rows of weights are one class; with one function there is one class.
    """
    strings = having(features, StringMap).strings()[kept]
    first = weights[np.arange(len(weights)), (weights != 0).argmax(axis=1)] if weights.size else np.ones(len(weights))
    directions, classes = np.unique(_rounded(weights / first[:, None]), axis=0, return_inverse=True)
    *packed, numbers = _minimal(strings, classes.ravel(), first).pack()
    codebook, codes = _codebook(_rounded(numbers))
    parts: dict[str, Any] = dict(zip(PACKED, packed, strict=True)) | {"codebook": codebook, "codes": codes}
    sizes = {name: [len(a), a.dtype.str] for name, a in parts.items()}
    parts["directions"] = directions
    spec = {"strings": len(strings), "symbols": len(strings.names), "directions": directions.shape, "arrays": sizes}
    arrays = stored.under("automaton", {name: _squeeze(array) for name, array in parts.items()})
    empty, own = features.restrict(kept[:0]).state()  # what the map knows besides its strings
    return {"features": empty, "automaton": spec}, arrays | stored.under("features", own)


def unpack_weights(
    kernel: Kernel, spec: dict[str, Any], arrays: dict[str, np.ndarray]
) -> tuple[FeatureMap, np.ndarray]:
    """The features and the weights in a model file; features are in the order of their strings."""
    own, squeezed = stored.value(spec, "automaton", dict), stored.part(arrays, "automaton")
    sizes = dict(stored.value(own, "arrays", dict))
    rows, n_functions = (stored.whole({"directions": n}, "directions") for n in stored.value(own, "directions", list))
    n_strings, n_symbols = stored.whole(own, "strings"), stored.whole(own, "symbols", most=2**31 - 1)
    budget = Budget("its automaton", sum(array.nbytes for array in squeezed.values()))
    budget.spend(8 * n_strings * (2 + n_functions))
    sizes["directions"] = [rows * n_functions, "<f8"]
    parts = {name: _expand(squeezed, name, kind, sizes.get(name), budget) for name, kind in KINDS.items()}
    codes, codebook = parts["codes"], parts["codebook"]
    sound = np.isfinite(codebook).all() and np.isfinite(parts["directions"]).all()
    if not sound or (len(codes) and codes.max() >= len(codebook)):
        raise InputError("the weights in the file do not fit its automaton")
    states, targets, named, labels = (parts[name] for name in PACKED)
    symbols, offsets, classes, factors = _core.unpack_weights(
        states, targets, named, labels, codebook[codes], n_symbols, rows, n_strings
    )
    empty = kernel.load_features(stored.value(spec, "features", dict), stored.part(arrays, "features"))
    features = having(empty, StringMap).with_strings(FeatureStrings(symbols, offsets, []))
    return features, factors[:, None] * parts["directions"].reshape(rows, n_functions)[classes]


def _minimal(strings: FeatureStrings, classes: np.ndarray, weights: np.ndarray) -> _core.WeightAutomaton:
    return _core.WeightAutomaton.minimal(
        strings.symbols, strings.offsets, classes.astype(np.int32), np.ascontiguousarray(weights, np.float64)
    )


def _rounded(numbers: np.ndarray) -> np.ndarray:
    """Numbers rounded to 42 bits, that is, 12 digits."""
    bits = np.ascontiguousarray(numbers, np.float64).view(np.int64)
    return ((bits + (LOW_BITS + 1) // 2) & ~LOW_BITS).view(np.float64)


def _codebook(numbers: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The distinct numbers, and the code of each. Frequent numbers come first, so that most codes are small; numbers of similar
    frequency are sorted, so that neighbours share their first bytes."""
    values, places, counts = np.unique(numbers, return_inverse=True, return_counts=True)
    order = np.argsort(-np.floor(np.log2(counts)), kind="stable") if len(counts) else np.empty(0, np.int64)
    rank = np.empty(len(values), np.uint32)
    rank[order] = np.arange(len(values), dtype=np.uint32)
    return values[order], rank[places.ravel()]


def _squeeze(array: np.ndarray) -> np.ndarray:
    """The bytes of an array, compressed: first bytes of all numbers first, because they are similar."""
    flat = np.ascontiguousarray(array).ravel()
    planes = flat.view(np.uint8).reshape(len(flat), -1).T if len(flat) else np.empty(0, np.uint8)
    return np.frombuffer(zlib.compress(np.ascontiguousarray(planes).tobytes(), 9), np.uint8)


def _expand(squeezed: dict[str, np.ndarray], name: str, expected: str, declared: Any, budget: Budget) -> np.ndarray:
    dtype = np.dtype(expected)
    count, kind = declared if isinstance(declared, list) and len(declared) == 2 else (None, None)
    if kind != expected:
        raise InputError(f"the array {name!r} of its automaton has the type {str(kind)[:20]!r}, expected {expected!r}")
    size = stored.whole({"count": count}, "count") * dtype.itemsize
    budget.spend(size)
    reader = zlib.decompressobj()
    try:
        data = reader.decompress(stored.array(squeezed, name, np.uint8).tobytes(), size + 1)
    except zlib.error as error:
        raise InputError(f"its automaton is damaged ({error})") from None
    if len(data) != size:
        raise InputError("the arrays of its automaton have other sizes than declared")
    planes = np.frombuffer(data, np.uint8).reshape(dtype.itemsize, -1)
    return np.ascontiguousarray(planes.T).view(dtype).ravel()
