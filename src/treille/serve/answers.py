"""The answers of a model as JSON values."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import treille
from treille.explain.explanation import Explained
from treille.explain.tasks import Task
from treille.kernels.parse import format_kernel
from treille.serve.kinds import Reader, reader_of
from treille.serve.requests import ExplainRequest


@dataclass(frozen=True)
class Served:
    """A model, the name shown for it, and how its examples are read."""

    model: Any
    name: str
    reader: Reader
    task: Task

    @classmethod
    def of(cls, model: Any, name: str = "") -> Served:
        """A fitted estimator to be served."""
        return cls(model, name, reader_of(model), model.task())

    def description(self) -> dict[str, Any]:
        """The model in JSON values, for `GET /model`."""
        model = self.model
        return {
            "name": self.name,
            "estimator": type(model).__name__,
            "kernel": format_kernel(model.plan_.kernel),
            "classes": self.task.labels,
            "probabilities": "probabilities" in self.task.fields,
            "data": self.reader.kind,
            "columns": {name: column.kind for name, column in self.reader.columns.items()} or None,
            "example": self.reader.expected,
            "reading": dict(model.reading_),
            "sizes": model.plan_.sizes,
            "report": model.report_.as_dict(),
            "version": treille.__version__,
        }

    def predict(self, values: list[Any]) -> dict[str, list[Any]]:
        """One item per example in each list: labels and scores, or values, or tags."""
        return self.task.answers(self.reader.read(values)) if values else {name: [] for name in self.task.fields}

    def explain(self, values: list[Any], request: ExplainRequest) -> list[dict[str, Any]]:
        """One explanation per example."""
        label = self.task.label_named(request.label) if request.has_label else None
        found: list[Explained] = self.model.explain_all(self.reader.read(values)) if values else []
        html = [each.drawn(label) if request.html else {} for each in found]
        return [self.task.explained(each, label) | own for each, own in zip(found, html, strict=True)]
