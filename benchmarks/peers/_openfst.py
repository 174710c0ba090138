"""Machines to OpenFst and back by its binary format, with log64 arcs, which keeps every digit of the weights."""

from __future__ import annotations

import struct

import numpy as np
import pywrapfst

from treille import Fst
from treille.io.machine import MachineParts

ARC = np.dtype([("input", "<i4"), ("output", "<i4"), ("weight", "<f8"), ("target", "<i4")])
HEAD = struct.pack("<ii6si5sii", 2125659606, 6, b"vector", 5, b"log64", 2, 0)


def to_openfst(fst: Fst) -> pywrapfst.VectorFst:
    """A machine of OpenFst; weights over the reals become costs."""
    parts = fst.astype("log").parts()
    arcs = np.empty(len(parts.sources), ARC)
    for name in ("input", "output", "weight", "target"):
        arcs[name] = getattr(parts, f"{name}s")
    finals = np.full(parts.n_states, np.inf)
    finals[parts.final_states] = parts.final_weights
    counts = np.bincount(parts.sources, minlength=parts.n_states).tolist()
    data, at = [HEAD, struct.pack("<Qqqq", 3, parts.start, parts.n_states, len(arcs))], 0  # 3: no properties are known
    for final, count in zip(finals.tolist(), counts, strict=True):
        data += [struct.pack("<dq", final, count), arcs[at : at + count].tobytes()]
        at += count
    return pywrapfst.VectorFst.read_from_string(b"".join(data))


def from_openfst(other: pywrapfst.VectorFst) -> Fst:
    """A machine of OpenFst in the log semiring."""
    data = other.write_to_string()
    start, n = struct.unpack_from("<qq", data, len(HEAD) + 8)
    at = len(HEAD) + 32
    counts, chunks, finals = [], [], []
    for _ in range(n):
        final, count = struct.unpack_from("<dq", data, at)
        finals.append(final)
        counts.append(count)
        chunks.append(data[at + 16 : at + 16 + ARC.itemsize * count])
        at += 16 + ARC.itemsize * count
    arcs = np.frombuffer(b"".join(chunks), ARC)
    sources = np.repeat(np.arange(n, dtype=np.int32), counts)
    ends = np.flatnonzero(np.isfinite(finals)).astype(np.int32)
    columns = [np.ascontiguousarray(arcs[name]) for name in ("input", "output", "weight", "target")]
    return Fst.from_parts(MachineParts(start, n, sources, *columns, ends, np.array(finals)[ends], "log"))
