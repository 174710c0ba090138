"""HTK's SLF, one lattice per file: header fields, `I=` for a node, `J=` for a link; words on nodes or on links.

A link's weight is, in natural logarithms, `acscale a + lmscale l + prscale r`, and `wdpenalty` where there is a word. A word of a
node moves to the links that enter it. `!NULL` is the empty string; `<s>`, `</s>` and every other word are kept as they are.
"""

import math
import re

import numpy as np

from .errors import InputError
from .machine import MachineParts
from .parameters import to_float
from .symbols import Coder, arc_words, whole
from .weights import as_kind, difference, one_final

NULL = "!NULL"
FIELD = re.compile(r"""([A-Za-z]+)=("(?:[^"\\]|\\.)*"(?=\s|$)|'(?:[^'\\]|\\.)*'(?=\s|$)|\S*)""")
ESCAPED = re.compile(r"((?:\\[0-7]{3})+)|\\(.)", re.DOTALL)
LONG = {"NODES": "N", "LINKS": "L", "UTTERANCE": "U", "WORD": "W", "START": "S", "END": "E"}
LONG |= {"acoustic": "a", "language": "l"}
SCORES = {"acoustic": ("a", "acscale"), "language": ("l", "lmscale"), "pronunciation": ("r", "prscale")}
Fields = dict[str, str]
Numbered = tuple[int, Fields]  # with its line


def looks_like_slf(line: str) -> bool:
    """Returns whether a line can begin a file of this format."""
    return re.match(r"\s*(VERSION|V|UTTERANCE|U|SUBLAT|NODES|N|lmname|lmscale|base)=", line) is not None


def parse(text: str, source: str) -> MachineParts:
    """The lattice of a file, in the log semiring. `scores` holds costs as they are before scaling.

    >>> text = "lmscale=2\\nN=2 L=1\\nI=0 W=!NULL\\nI=1 W=vine\\nJ=0 S=0 E=1 a=-3 l=-0.5\\n"
    >>> lattice = parse(text, "a.slf")
    >>> lattice.weights.tolist(), lattice.words(), lattice.scores["acoustic"].tolist()
    ([4.0], ['vine'], [3.0])
    """
    header, nodes, links = _sections(text, source)
    n, n_links = (_whole(header, key, f"{source}: the header", 2**31) for key in "NL")
    if len(nodes) != n:
        raise InputError(
            f"{source}: the header declares N={n}, but there are {len(nodes)} nodes: the file is cut short or damaged"
        )
    if len(links) != n_links:
        raise InputError(
            f"{source}: the header declares L={n_links}, but there are {len(links)} links: it is cut short or damaged"
        )
    name = _text(header.get("U", ""))
    if n == 0:
        return MachineParts.nothing(name, semiring="log")
    words: list[str | None] = [None] * n
    for at, node in nodes:
        words[_whole(node, "I", f"{source}, line {at}", n)] = _text(node["W"]) if "W" in node else None
    ends = [tuple(_whole(link, side, f"{source}, line {at}", n) for side in "SE") for at, link in links]
    sources, targets = np.array(ends, np.int32).reshape(-1, 2).T
    start = _only(header, "start", set(range(n)) - set(targets.tolist()), source, n)
    end = _only(header, "end", set(range(n)) - set(sources.tolist()), source, n)
    links_to = zip((link for _, link in links), targets, strict=True)
    on_links = [_text(link["W"]) if "W" in link else words[target] or NULL for link, target in links_to]
    costs, scores = _costs(header, links, [word != NULL for word in on_links], source)
    first = words[start] or NULL
    if first != NULL and not any("W" in link for _, link in links):  # a word of the start: before it comes a new state
        sources, targets = np.append(sources, n).astype(np.int32), np.append(targets, start).astype(np.int32)
        costs, scores = np.append(costs, 0.0), {key: np.append(values, 0.0) for key, values in scores.items()}
        on_links, start, n = [*on_links, first], n, n + 1
    coder = Coder([NULL])
    labels = np.array(coder.labels(on_links), np.int32)
    symbols, final = coder.symbols(), np.array([end], np.int32)
    arrays = (sources, labels, labels, costs, targets, final, np.zeros(1))
    return MachineParts(start, n, *arrays, "log", symbols, symbols, name, scores)


def _sections(text: str, source: str) -> tuple[Fields, list[Numbered], list[Numbered]]:
    header, nodes, links = Fields(), list[Numbered](), list[Numbered]()
    for at, line in enumerate(text.split("\n"), 1):
        fields = {LONG.get(key, key): value for key, value in FIELD.findall(line)}
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        if not fields:
            raise InputError(f"{source}, line {at}: found {line.strip()[:40]!r}, expected fields such as I=0 W=vine")
        if "J" in fields:
            links.append((at, fields))
        elif "I" in fields:
            nodes.append((at, fields))
        else:
            header |= fields
        if "SUBLAT" in fields or ("L" in fields and "I" in fields):
            raise InputError(
                f"{source}, line {at}: has lattices within lattices, expected one: HLRescore or lattice-tool expands them"
            )
    return header, nodes, links


def _costs(
    header: Fields, links: list[Numbered], is_word: list[bool], source: str
) -> tuple[np.ndarray, dict[str, np.ndarray]]:
    """The cost of every link, and its components."""
    place = f"{source}: the header"
    base, penalty = _number(header, "base", place, math.e), _number(header, "wdpenalty", place, 0.0)
    if base < 0 or base == 1:
        raise InputError(f"{place} declares base={header['base']}, expected the base of logarithms, or 0 for none")
    unit = 1.0 if base in (0, math.e) else math.log(base)
    costs, scores = np.where(is_word, -penalty * unit, 0.0), {}
    for name, (field, scale) in SCORES.items():
        if not any(field in link for _, link in links):
            continue
        one = 1.0 if base == 0 else 0.0
        values = np.array([_number(link, field, f"{source}, line {at}", one) for at, link in links])
        if base == 0 and (values <= 0).any():
            at = links[int(np.flatnonzero(values <= 0)[0])][0]
            raise InputError(
                f"{source}, line {at}: {field}= is not positive, expected a probability, since the header declares base=0"
            )
        factor = _number(header, scale, place, 1.0)
        with np.errstate(over="ignore", invalid="ignore"):  # checked below
            scores[name] = -np.log(values) if base == 0 else 0.0 - values * unit
            costs += factor * scores[name]
    bad = np.flatnonzero(~np.all([np.isfinite(costs), *map(np.isfinite, scores.values())], axis=0))
    if len(bad):
        raise InputError(
            f"{source}, line {links[int(bad[0])][0]}: the scores of the link, scaled, add up to more than a number can hold,"
            " expected at most 1e308: scale them down"
        )
    return costs, scores


def _only(header: Fields, key: str, candidates: set[int], source: str, n: int) -> int:
    if key in header:
        return _whole(header, key, f"{source}: the header", n)
    if len(candidates) != 1:
        shown = ", ".join(map(str, sorted(candidates)[:5])) or "none"
        verb = "enters" if key == "start" else "leaves"
        raise InputError(
            f"{source}: expected one node that no link {verb}, found {shown}; name it in the header: {key}=NODE"
        )
    return candidates.pop()


def _whole(fields: Fields, key: str, place: str, most: int) -> int:
    text = fields.get(key, "")
    if not 0 <= (number := whole(text)) < most:
        found = f"{key}={text[:40]}" if key in fields else f"no {key}="
        raise InputError(f"{place}: found {found}, expected a whole number below {most}")
    return number


def _number(fields: Fields, key: str, place: str, otherwise: float) -> float:
    if key not in fields:
        return otherwise
    value = to_float(fields[key])
    if not math.isfinite(value):
        raise InputError(f"{place}: found {key}={fields[key][:40]}, expected a finite number")
    return value


def _text(value: str) -> str:
    if len(value) > 1 and value[0] in "\"'" and value[-1] == value[0]:
        value = value[1:-1]
    return ESCAPED.sub(_plain, value) if "\\" in value else value


def _plain(escaped: re.Match[str]) -> str:
    if escaped[1] is None:
        return escaped[2]
    data = bytes(int(octal, 8) & 255 for octal in escaped[1][1:].split("\\"))
    try:
        return data.decode()
    except UnicodeDecodeError:
        return data.decode("latin-1")


def format_machine(parts: MachineParts) -> str:
    """The lattice as a file, words on links. `a=` is the acoustic score if there is one, `l=` the rest of the weight."""
    if not parts.is_acceptor:
        raise InputError("is a transducer, and SLF holds acceptors: take one side of it with project")
    parts = one_final(as_kind(parts, "cost"))
    out = ["VERSION=1.0"] + ([f"UTTERANCE={_quoted(parts.name)}"] if parts.name else [])
    if parts.start < 0 or not len(parts.final_states):
        return "\n".join([*out, "N=0 L=0", ""])
    out.append(f"base={math.e} acscale=1 lmscale=1 wdpenalty=0")
    out.append(f"start={parts.start} end={parts.final_states[0]}")
    out.append(f"N={parts.n_states} L={len(parts.weights)}")
    out += [f"I={state}" for state in range(parts.n_states)]
    acoustic = parts.scores.get("acoustic", np.zeros(len(parts.weights)))
    words, ends = arc_words(parts, "inputs", NULL, blanks=True), (parts.sources.tolist(), parts.targets.tolist())
    columns = zip(*ends, words, acoustic.tolist(), difference(parts.weights, acoustic).tolist(), strict=True)
    for j, (source, target, word, cost, rest) in enumerate(columns):
        out.append(f"J={j} S={source} E={target} W={_quoted(word)} a={0.0 - cost} l={0.0 - rest}")
    return "\n".join([*out, ""])


def _quoted(word: str) -> str:
    if not re.search(r"[\s\"'\\]", word):
        return word
    return '"' + word.replace("\\", "\\\\").replace('"', '\\"') + '"'
