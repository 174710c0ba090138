"""The page to try a model: its HTML, style and script, and sample examples on it."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from importlib.resources import files
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined

import treille
from treille.kernels.parse import format_kernel
from treille.serve.api import Served
from treille.serve.kinds import Reader

STYLES = (
    ("treille.explain", "palette.css"),
    ("treille.explain", "highlighting.css"),
    ("treille.serve", "playground.css"),
)
SEVERAL = "One token per line, {n} columns with blanks between them; or in one line as a/b"
FEATURES = "JSON: a list with a list of features for each token"


@dataclass(frozen=True)
class Sample:
    """An example offered on the page: its name, and the value of JSON that the server reads."""

    name: str
    value: Any


def page(served: Served, samples: Sequence[Sample] = ()) -> str:
    """The page as HTML. It loads its style and its script from the same server, and nothing from elsewhere."""
    environment = Environment(
        loader=PackageLoader("treille.serve", "templates"), autoescape=True, undefined=StrictUndefined, trim_blocks=True
    )
    readers = served.reader.columns or {"": served.reader}
    kind = "columns" if served.reader.columns else "tags" if served.task.per_token else "parts"
    fields = [
        {"name": name, "kind": reader.kind, "hint": _hint(reader), "columns": reader.n_columns}
        for name, reader in readers.items()
    ]
    task = served.task
    setup = {"kind": kind, "fields": fields, "classes": task.labels, "samples": [asdict(each) for each in samples]}
    return environment.get_template("playground.html").render(
        name=served.name or type(served.model).__name__,
        estimator=type(served.model).__name__,
        kernel=format_kernel(served.model.plan_.kernel),
        classes=list(map(str, task.labels or ())) if task.any_class else [],
        fields=fields,
        kind=kind,
        target=f"the {task.noun}" if task.labels else "a larger number",
        samples=[each.name for each in samples],
        setup=setup,
        version=treille.__version__,
    )


def asset(name: str) -> bytes:
    """A file that the page loads; its style includes the style of explanations."""
    parts = STYLES if name.endswith(".css") else (("treille.serve", name),)
    return b"\n".join((files(package) / "templates" / part).read_bytes() for package, part in parts)


def _hint(reader: Reader) -> str:
    if reader.n_columns != 1:
        return SEVERAL.format(n=reader.n_columns) if reader.n_columns else FEATURES
    return str(reader.schema.get("$comment", reader.expected))
