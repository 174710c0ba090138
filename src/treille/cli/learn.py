"""Learn the weights of a kernel's features from labelled examples, and print them.

\b
Examples:
  treille learn reviews.csv --kernel 'ngram(2, unit=word)' --model reviews.treille
  treille learn pos.fa neg.fa --kernel 'ngram(6, min_n=2)' --groups parts
  treille learn reviews.jsonl --label rating --regression --alpha 10 --cv 10

The learned kernel weighs each feature so that a support vector machine separates the classes with the least regularised
error; most weights are 0. With --groups parts, each order of n-grams and each term of a sum has one weight. With
--regression, labels are numbers, and the kernel is learned for ridge regression.

\b
Prints the weights, the largest first: the feature, its weight, its share of the trace of the kernel matrix, and what it
adds to the output where it occurs once. 'treille predict' and 'treille evaluate' use the saved model like any other.
"""

from enum import Enum
from typing import Annotated, Any

import numpy as np
import typer
from sklearn.base import clone
from sklearn.model_selection import KFold

from treille import InputError, LearnedRidge, LearnedSVC
from treille.cli import options
from treille.cli.console import Printer
from treille.cli.models import check_writable, describe_report, print_saved
from treille.cli.options import Reading, command, kernel_option
from treille.cli.training import fit, fold_splits, held_out
from treille.kernels import Kernel
from treille.kernels.parse import default_kernel, format_kernel


class Groups(str, Enum):
    """The values of --groups."""

    features = "features"
    parts = "parts"


class Spread(str, Enum):
    """The values of --spread."""

    optimal = "optimal"
    even = "even"


class Learn(str, Enum):
    """The values of --learn."""

    risk = "risk"
    alignment = "alignment"
    nnls = "alignment-nnls"


Top = Annotated[int, typer.Option("--top", metavar="N", min=1, help="How many weights to print.")]
GroupsName = Annotated[
    Groups,
    typer.Option("--groups", metavar="NAME", help="features: a weight for each; parts: for each order and term."),
]
SpreadName = Annotated[
    Spread, typer.Option("--spread", metavar="NAME", help="optimal, or even: the same share for all that are active.")
]
LearnName = Annotated[
    Learn,
    typer.Option(
        "--learn", metavar="NAME", help="risk: the least regularised error; alignment or alignment-nnls: with y."
    ),
]
Regression = Annotated[bool, typer.Option("--regression", help="Labels are numbers: learn for ridge regression.")]
WeightOfLosses = Annotated[
    float | None,
    typer.Option("--C", metavar="NUMBER", help="Weight of the losses; less is smoother.", show_default="1"),
]
Alpha = Annotated[
    float | None,
    typer.Option("--alpha", metavar="NUMBER", help="Weight of the regulariser, with --regression.", show_default="1"),
]


@options.reading_options()
def run(
    files: options.DataFiles,
    model: options.ModelPath = None,
    *,
    reading: Reading,
    kernel: options.KernelText = None,
    groups: GroupsName = Groups.features,
    learn: LearnName = Learn.risk,
    spread: SpreadName = Spread.optimal,
    C: WeightOfLosses = None,
    regression: Regression = False,
    alpha: Alpha = None,
    tol: options.Tol = 1e-3,
    max_epochs: options.MaxEpochs = 1000,
    cv: options.Folds = None,
    top: Top = 20,
    jobs: options.Jobs = None,
    seed: options.Seed = 0,
    force: options.Force = False,
    json: options.Json = False,
    quiet: options.Quiet = False,
) -> None:
    """Reads, learns, scores, saves, and prints last."""
    if (C if regression else alpha) is not None:
        raise typer.BadParameter(
            "with --regression, the weight is --alpha" if regression else "it is for --regression; for classes use --C",
            param_hint="--C" if regression else "--alpha",
        )
    if model is not None:
        check_writable(model, "model", reading.inputs(*files), force)
    chosen = kernel_option(kernel)
    shared: dict[str, Any] = {
        "groups": groups.value, "learn": learn.value, "spread": spread.value, "tol": tol, "max_epochs": max_epochs,
        "n_jobs": jobs or -1, "verbose": int(not quiet),
    }  # fmt: skip
    learner: Any = (
        LearnedRidge(chosen, 1.0 if alpha is None else alpha, **shared)
        if regression
        else LearnedSVC(chosen, 1.0 if C is None else C, random_state=seed, **shared)
    )
    try:
        learner.check_parameters()
    except InputError as error:
        raise typer.BadParameter(str(error)) from None
    printer = Printer(json, quiet)
    examples, labels = reading.read_labelled(printer, files, chosen)
    why = "as given"
    if chosen is None:
        chosen, why = default_kernel(reading.data(Printer(quiet=True), examples), labels=False)
        learner.kernel = chosen
    batch = chosen.batch(reading.data(printer, examples, chosen), learner.n_jobs)
    y = np.asarray(examples.targets()) if regression else np.array(labels)
    scored, values = _scores(printer, learner, batch, y, cv, seed) if cv else ("", None)
    fit(learner, batch, y)
    learner.reading_ |= reading.remembered()
    if model:
        learner.save(model)
    tables = learner.learned_weights_
    by_class = tables if isinstance(tables, dict) else {"": tables}
    if not json:
        _print(printer, learner, chosen, why, by_class, top, scored)
    if model and not json:
        print_saved(printer, model, f"{command('predict', model, 'FILE')}{reading.flags()}")
    printer.result(
        {
            "file": examples.source,
            "kernel": format_kernel(chosen),
            "weights": {str(label): [each._asdict() for each in table] for label, table in by_class.items()},
            "learning": learner.learning_report_.as_dict(),
            "report": learner.report_.as_dict(),
            "score": values,
            "model": model and str(model),
        }
    )
    if learner.learning_report_.status != "converged" or learner.report_.status != "converged":
        raise typer.Exit(3)


def _scores(
    printer: Printer, learner: Any, batch: Any, y: np.ndarray, cv: int, seed: int
) -> tuple[str, dict[str, Any]]:
    """The scores of a cross-validation, in words and as JSON values."""
    how = f"in {cv}-fold cross-validation"
    if isinstance(learner, LearnedSVC):
        found = held_out(learner, batch, y.tolist(), fold_splits(y.tolist(), cv, seed, printer), how)
        return str(found), found.as_dict()
    if len(y) < cv:
        raise InputError(f"there are {len(y)} examples: --cv {cv} is too much, try --cv {len(y)}")
    errors = []
    for train, test in KFold(cv, shuffle=True, random_state=seed).split(y):
        fitted = fit(clone(learner), batch[train], y[train])
        errors.append(float(np.sqrt(np.mean((fitted.predict(batch[test]) - y[test]) ** 2))))
    mean, spread = float(np.mean(errors)), float(np.std(errors))
    return f"root mean squared error {mean:.4g} ± {spread:.2g}, {how}", {"how": how, "rmse": errors, "folds": cv}


def _print(
    printer: Printer, learner: Any, kernel: Kernel, why: str, tables: dict[Any, Any], top: int, scored: str
) -> None:
    printer.field("kernel", f"{format_kernel(kernel)}, {why}")
    printer.field("learning", describe_report(learner.learning_report_, learner.tol))
    printer.field("sizes", learner.plan_.sizes)
    if scored:
        printer.field("score", scored)
    if learner.groups != "parts" and isinstance(learner, LearnedSVC) and len(learner.classes_) == 2:
        negative, positive = learner.classes_.tolist()
        printer.field("effect", f"positive: for {positive}, negative: for {negative}")
    for label, table in tables.items():
        name = "part" if learner.groups == "parts" else "feature"
        printer.print(f"{f'{label}: ' if label != '' else ''}{len(table):,} {name}s with weight")
        rows = [
            [each.name, f"{each.weight:.4g}", f"{each.share:.2%}", "" if each.effect is None else f"{each.effect:+.3g}"]
            for each in table[:top]
        ]
        printer.table([name, "weight", "share", "effect" if learner.groups != "parts" else ""], rows)
