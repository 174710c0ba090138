"""Scripts without blanks between words, recognised by the letters of texts."""

import re
from collections import Counter
from collections.abc import Iterable, Sized
from itertools import islice

# By blocks of Unicode. Korean is not among them: it is written with blanks.
WITHOUT_BLANKS = {
    "Chinese": "\u3005-\u3007\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff",
    "Japanese": "\u3040-\u30ff\u31f0-\u31ff\uff66-\uff9f",  # also written with the characters of Chinese
    "Thai": "\u0e00-\u0e7f",
    "Lao": "\u0e80-\u0eff",
    "Burmese": "\u1000-\u109f\ua9e0-\ua9ff\uaa60-\uaa7f",
    "Khmer": "\u1780-\u17ff\u19e0-\u19ff",
}
_OF_SCRIPT = {name: re.compile(f"[{blocks}]") for name, blocks in WITHOUT_BLANKS.items()}
_ANY = "".join(WITHOUT_BLANKS.values())
RUNS = re.compile(f"[{_ANY}]+")  # of characters of these scripts
_OTHER_LETTERS = re.compile(rf"(?![{_ANY}])[^\W\d_]")
SAMPLE, BEGINNING = 1000, 2000  # texts that are examined, and characters of each
LEAST_SHARE = 0.2  # of the letters, from which on words and long n-grams are the less accurate features


def without_blanks(texts: Iterable[str]) -> tuple[str, float] | None:
    """The most frequent script without blanks, and the share of letters in all such scripts; None if it is less than `LEAST_SHARE`.

    At most `SAMPLE` texts are examined, spread over all of them.

    >>> without_blanks(["こんにちは", "hello"])
    ('Japanese', 0.5)
    >>> without_blanks(["안녕하세요", "hello, 世界"]) is None
    True
    """
    count = len(texts) if isinstance(texts, Sized) else 0
    sample = islice(texts, 0, None, max(1, count // SAMPLE))
    shown = "\n".join(text[:BEGINNING] for text in islice(sample, SAMPLE) if isinstance(text, str))
    if shown.isascii():
        return None
    found = Counter({name: len(script.findall(shown)) for name, script in _OF_SCRIPT.items()})
    (name, _), total = found.most_common(1)[0], found.total()
    share = total / max(1, total + len(_OTHER_LETTERS.findall(shown)))
    return (name, share) if share >= LEAST_SHARE else None
