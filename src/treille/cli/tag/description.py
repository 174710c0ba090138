"""Taggers, as `inspect` describes them."""

from pathlib import Path

from treille import Tagger
from treille.cli.console import Printer
from treille.cli.models import describe_report, settings
from treille.cli.tag import sentences
from treille.data.base import readable_size
from treille.data.format import listed, visible_label
from treille.kernels.parse import format_kernel


def inspect_tagger(printer: Printer, model: Tagger, path: Path) -> None:
    """Prints kernel, tags, templates, sizes and how training ended."""
    kernel, size, report, features = (
        format_kernel(model.plan_.kernel),
        path.stat().st_size,
        model.report_,
        model.features_,
    )
    chosen = {name: value for name, value in settings(model).items() if name != "templates"}
    printer.print(f"{path}: a model of treille (Tagger), {readable_size(size)}", style="bold")
    printer.field("kernel", kernel)
    if sentences.reads_features(model):
        printer.field("reads", "features of tokens, as CRFsuite does")
    else:
        printer.field("reads", f"columns of tokens: {', '.join(_names(features.n_columns))}")
    printer.field("tags", f"{listed([visible_label(tag) for tag in model.tags_], 20)}: {sentences.scheme_of(model)}")
    printer.field("features", sentences.describe_features(model))
    printer.field("sizes", model.plan_.sizes)
    printer.field("training", f"{describe_report(report, model.tol, model.multiclass == 'pairs')}, seed {report.seed}")
    printer.field("settings", ", ".join(f"{name}={value}" for name, value in chosen.items() if value is not None))
    printer.result(
        {
            "kind": "model",
            "file": str(path),
            "bytes": size,
            "estimator": "Tagger",
            "kernel": kernel,
            "columns": features.n_columns,
            "classes": model.tags_,
            "scheme": model.own_scheme_,
            "templates": [str(template) for template in features.templates],
            "features": features.n_features,
            "parameters": chosen,
            "report": report.as_dict(),
        }
    )


def _names(n_columns: int) -> list[str]:
    return [*("word", "pos")[:n_columns], *(f"x{j}" for j in range(2, n_columns))]
