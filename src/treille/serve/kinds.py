"""Examples in JSON as the examples of a model: how they are read and described."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from treille import InputError
from treille.data.format import short_json
from treille.kernels.reading import Reads


@dataclass(frozen=True)
class Reader:
    """Reads values of JSON as examples of one kind, and describes them by a JSON schema."""

    schema: Mapping[str, Any]  # see `Batch.json_schema`
    read: Callable[[list[Any]], Any]
    write: Callable[[Any], Any]  # one example as a value of JSON
    columns: "Mapping[str, Reader]" = field(default_factory=dict)  # of examples with several columns
    n_columns: int = 1  # of the tokens of sentences; 0 if these have features

    @property
    def kind(self) -> str:
        """The clients' name for the kind of data."""
        return str(self.schema["title"])

    @property
    def expected(self) -> str:
        """A description of an example, in words."""
        return str(self.schema["description"])


def reader_of(model: Any) -> Reader:
    """The reader of examples for a model.

    >>> import treille
    >>> reader = reader_of(treille.SVC(treille.kernels.NGram(2)).fit(["ab", "cd"], [0, 1]))
    >>> reader.kind, reader.read(["abc"])
    ('texts', ['abc'])
    """
    return _reader(model.reads_, model.reading_)


def _reader(reads: Reads, reading: Mapping[str, Any]) -> Reader:
    if reads.columns:
        return _reader_of_columns({name: _reader(own, reading) for name, own in reads.columns.items()})
    if not reads.kinds:
        raise InputError("the kernel of the model does not say which kind of data it reads: it cannot be served")
    kind = reads.kinds[-1]
    schema, n_columns = kind.json_schema(reads.units), reading.get("columns", 1)
    return Reader(schema, lambda values: kind.read_json(values, reading), kind.write_json, n_columns=n_columns)


def _reader_of_columns(columns: Mapping[str, Reader]) -> Reader:
    def read(values: list[Any]) -> list[dict[str, Any]]:
        for i, value in enumerate(values):
            if not isinstance(value, dict):
                expected = f"an object with {', '.join(map(repr, columns))}"
                raise InputError(f"item {i} is {short_json(value)}, expected {expected}")
            missing = [name for name in columns if name not in value]
            if missing:
                raise InputError(f"item {i} has no {missing[0]!r}: it has {', '.join(map(repr, value)) or 'nothing'}")
        found = {}
        for name, own in columns.items():
            try:
                found[name] = own.read([value[name] for value in values])
            except InputError as error:
                raise InputError(f"column {name!r}: {error}") from None
        return [{name: column[i] for name, column in found.items()} for i in range(len(values))]

    def write(example: Mapping[str, Any]) -> dict[str, Any]:
        return {name: own.write(example[name]) for name, own in columns.items()}

    own = {name: dict(column.schema) for name, column in columns.items()}
    words = {"title": "columns", "description": "an object with a value for each column"}
    return Reader(words | {"type": "object", "properties": own, "required": list(own)}, read, write, columns)
