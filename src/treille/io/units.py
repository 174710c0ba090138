"""Units: how texts are split into symbols. Names of units are parsed and compared here, and nowhere else."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, Literal

from .errors import InputError

NORMAL_FORMS: dict[str, Literal["NFC", "NFKC"]] = {"nfc": "NFC", "nfkc": "NFKC"}
MODIFIERS = (*NORMAL_FORMS, "lower", "alnum")  # in the order in which they are applied, and written
BASES = {"char": MODIFIERS[:3], "char_wb": MODIFIERS[:3], "word": MODIFIERS, "byte": ()}
SPLIT = ("token", "integer")  # the units of sequences that were already split
CHOICES = (
    f"one of {', '.join(map(repr, BASES))}, where modifiers may follow such as 'word+lower' "
    f"({', '.join(MODIFIERS)}; alnum for words only, none for bytes), a callable, or None"
)


@dataclass(frozen=True)
class TextUnit:
    """A unit such as "word+lower": a base, and modifiers of it in the order of `MODIFIERS`.

    >>> unit = TextUnit.parse("word+alnum+lower")
    >>> str(unit), unit.base, unit.modifiers
    ('word+lower+alnum', 'word', ('lower', 'alnum'))
    """

    base: str
    modifiers: tuple[str, ...] = ()

    @staticmethod
    @cache
    def parse(name: str) -> "TextUnit":
        """The unit that a user names."""
        base, *found = name.split("+")
        if base not in BASES:
            raise InputError(f"unit is {name!r}, expected {CHOICES}")
        for modifier in found:
            if modifier not in MODIFIERS:
                raise InputError(
                    f"unit is {name!r}, with the modifier {modifier!r}: expected {', '.join(map(repr, MODIFIERS))}"
                )
            if modifier not in BASES[base]:
                allowed = ", ".join(map(repr, BASES[base])) or "none"
                raise InputError(f"unit is {name!r}, but {base!r} has no modifier {modifier!r}: it has {allowed}")
        if set(NORMAL_FORMS) <= set(found):
            raise InputError(f"unit is {name!r}, with two normal forms: use nfc or nfkc")
        return TextUnit(base, tuple(modifier for modifier in MODIFIERS if modifier in found))

    @staticmethod
    @cache
    def of(name: str) -> "TextUnit":
        """The unit of a batch by the name in its attribute `unit`: a unit of texts, "token" or "integer"."""
        return TextUnit(name) if name in SPLIT else TextUnit.parse(name)

    @property
    def splits_texts(self) -> bool:
        """Whether texts were split, rather than sequences of symbols given."""
        return self.base in BASES

    @property
    def stops_at_borders(self) -> bool:
        """Whether n-grams of characters must not reach from one word into another."""
        return self.base == "char_wb"

    @property
    def normal_form(self) -> Literal["NFC", "NFKC"] | None:
        """The Unicode normal form of texts before they are split."""
        return next((NORMAL_FORMS[modifier] for modifier in self.modifiers if modifier in NORMAL_FORMS), None)

    @property
    def separator(self) -> str:
        """The text between symbols that are written one after the other."""
        return "" if self.base in ("char", "char_wb", "byte") else " "

    def agrees(self, other: "TextUnit") -> bool:
        """Returns whether symbols of the two can be equal. Token lists may hold the words of texts."""
        return self == other or {self.base, other.base} == {"word", "token"}

    def __str__(self) -> str:
        return "+".join((self.base, *self.modifiers))


def split_texts(units: Sequence[Any]) -> bool:
    """Returns whether texts were split by these units, rather than sequences of symbols given, or made by functions."""
    return all(isinstance(unit, str) and TextUnit.of(unit).splits_texts for unit in units)


def canonical(unit: Any) -> Any:
    """The parameter `unit` of a kernel, with equal units made equal; a callable, and None, are themselves."""
    if callable(unit) or unit is None:
        return unit
    if not isinstance(unit, str):
        raise InputError(f"unit is {unit!r}, expected {CHOICES}")
    return str(TextUnit.parse(unit))
