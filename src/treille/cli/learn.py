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

from typing import Annotated, Any, Literal

import numpy as np
import typer
from sklearn.base import clone
from sklearn.model_selection import KFold

from treille import InputError, LearnedRidge, LearnedSVC
from treille.cli import options
from treille.cli.console import Printer
from treille.cli.models import check_writable, print_saved
from treille.cli.options import command, flag, kernel_option, option
from treille.cli.training import NOT_CONVERGED, TrainingJob, checked, fit, fold_splits, held_out
from treille.explain.report import describe_report
from treille.kernels.parse import format_kernel

GROUPS = "features: a weight for each; parts: for each order and term."
SPREAD = "optimal, or even: the same share for all active features or parts."
LEARN = "risk: the least regularised error; alignment or alignment-nnls: alignment with the targets."


@options.with_options()
def run(
    files: options.DataFiles,
    model: options.ModelPath = None,
    *,
    reading: options.ReadingOptions,
    kernel: options.KernelText = None,
    groups: Annotated[Literal["features", "parts"], option("NAME", GROUPS)] = "features",
    learn: Annotated[Literal["risk", "alignment", "alignment-nnls"], option("NAME", LEARN)] = "risk",
    spread: Annotated[Literal["optimal", "even"], option("NAME", SPREAD)] = "optimal",
    C: options.C = 1,
    regression: Annotated[bool, flag("--regression", "Labels are numbers: learn for ridge regression.")] = False,
    alpha: Annotated[float, option("NUMBER", "Weight of the regulariser, with --regression.")] = 1,
    tol: options.Tol = 1e-3,
    max_epochs: options.MaxEpochs = 1000,
    cv: options.Folds = None,
    top: Annotated[int, option("N", "How many weights to print.", min=1)] = 20,
    jobs: options.Jobs = None,
    seed: options.Seed = 0,
    force: options.Force = False,
    given: options.GivenOptions,
    printer: options.Output,
) -> None:
    """Reads, learns, scores, saves, and prints last."""
    if regression:
        given.refuse(("--C",), "with --regression, the weight is --alpha")
        if cv is None:
            given.refuse(("--seed",), "with --regression, it is for the folds of --cv: leave it out")
    else:
        given.refuse(("--alpha",), "it is for --regression; for classes use --C")
    if learn != "risk":
        given.refuse(("--spread",), f"is for --learn risk: leave it out with --learn {learn}")
    check_writable(model, "model", reading.inputs(*files), force)
    chosen = kernel_option(kernel)
    shared: dict[str, Any] = {
        "groups": groups, "learn": learn, "spread": spread, "tol": tol, "max_epochs": max_epochs, "n_jobs": jobs or -1,
        "verbose": int(not printer.quiet),
    }  # fmt: skip
    learner: Any = checked(
        LearnedRidge(chosen, alpha, **shared) if regression else LearnedSVC(chosen, C, random_state=seed, **shared)
    )
    data = reading.load(printer, files, True, chosen, labels=False)
    learner.kernel = data.kernel
    batch = data.kernel.batch(data.X, learner.n_jobs)
    y = np.asarray(data.examples.targets()) if regression else np.array(data.labels)
    scored, values = _scores(printer, learner, batch, y, cv, seed) if cv else ("", None)
    fit(learner, batch, y)
    TrainingJob(files, [], model, reading, printer).save(learner)
    tables = learner.learned_weights_
    by_class = tables if isinstance(tables, dict) else {"": tables}
    _print(printer, learner, data.why, by_class, top, scored)
    if model:
        print_saved(printer, model, f"{command('predict', model, 'FILE')}{reading.flags()}")
    printer.result(
        {
            "file": data.examples.source,
            "kernel": format_kernel(data.kernel),
            "weights": {str(label): [each._asdict() for each in table] for label, table in by_class.items()},
            "learning": learner.learning_report_.as_dict(),
            "report": learner.report_.as_dict(),
            "score": values,
            "model": model and str(model),
        }
    )
    if learner.learning_report_.status != "converged" or learner.report_.status != "converged":
        raise typer.Exit(NOT_CONVERGED)


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


def _print(printer: Printer, learner: Any, why: str, tables: dict[Any, Any], top: int, scored: str) -> None:
    printer.field("kernel", f"{format_kernel(learner.kernel)}, {why}")
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
