"""Tables: examples of several columns, each column a batch of any kind."""

from __future__ import annotations

from typing import Any

from treille.data.aligned import AlignedBatches, same_batch
from treille.data.base import Batch, Summary, kind_of
from treille.data.texts import Texts
from treille.io.errors import InputError
from treille.io.parts import ColumnParts


class Table(AlignedBatches):
    """Named batches of the same length: example i consists of example i of each.

    Parameters
    ----------
    columns : dict of str to Batch
        At least one.

    Examples
    --------
    >>> from treille import Strings
    >>> from treille.data import Table
    >>> table = Table({"title": Strings(["abba", "cab"]), "words": Strings(["so long", "hi"], unit="word")})
    >>> len(table), table[1], table[:1].columns["words"][0]
    (2, {'title': 'cab', 'words': ['hi']}, ['so', 'long'])
    """

    title = "tables"
    parts = ColumnParts

    @classmethod
    def default_kernels(cls, data: Any) -> tuple[tuple[str, str], ...]:
        """The sum of the default kernels of the columns."""
        own = {name: kind_of(column).default_kernels(column) for name, column in data.columns.items()}
        inside = [", ".join(f"{name!r}: {kernels[k][0]}" for name, kernels in own.items()) for k in (0, -1)]
        why = "the default kernel of each column, added"
        return tuple((f"columns({{{kernels}}})", why) for kernels in dict.fromkeys(inside))

    @classmethod
    def summarise(cls, data: Any, n_samples: int, width: int) -> Summary:
        share = width // len(data.columns)
        each = {name: kind_of(column).summarise(column, n_samples, share) for name, column in data.columns.items()}
        fields = {f"{name}, {key}": text for name, own in each.items() for key, text in own.fields.items()}
        samples = ["  |  ".join(row) for row in zip(*(own.samples for own in each.values()), strict=False)]
        return Summary(fields, {"columns": {name: own.values for name, own in each.items()}}, samples)

    def joined(self, other: Batch) -> Table:
        """The columns of both; columns of the same name must be equal, or texts split by different units.

        >>> from treille import Strings
        >>> list(Table({"a": Strings(["x"])}).joined(Table({"b": Strings(["y"])})).columns)
        ['a', 'b']
        """
        if not isinstance(other, Table):
            raise InputError(f"the same examples are read as a table and as {other!r}: give each part a column")
        columns = self.columns | other.columns
        for name in self.columns.keys() & other.columns.keys():
            if not same_batch(self.columns[name], other.columns[name]):
                both = Texts.joined(self.columns[name], other.columns[name])
                if both is None:
                    raise InputError(f"column {name!r} is read in two ways: make the kernels agree, or name it twice")
                columns[name] = both
        return Table(columns)
