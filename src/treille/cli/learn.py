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
from sklearn.base import clone, is_classifier
from sklearn.model_selection import KFold

from treille import InputError, LearnedRidge, LearnedSVC
from treille.cli import options
from treille.cli.console import Printer
from treille.cli.options import flag, kernel_option, option, positive_option
from treille.cli.training import HeldOut, Trained, TrainingJob, check_classes, checked, fit, fold_splits, held_out
from treille.explain.report import describe_report
from treille.kernels.parse import format_kernel

GROUPS = "features: a weight for each; parts: for each order and term."
SPREAD = "optimal, or even: the same share for all active features or parts."
LEARN = "risk: the least regularised error; alignment or alignment-nnls: alignment with the targets."


@options.with_options("holdout", "test", "report")
def run(
    files: options.DataFiles,
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
    top: Annotated[int, option("N", "How many weights to print.", min=1)] = 20,
    common: options.TrainingOptions,
    given: options.GivenOptions,
    printer: options.Output,
) -> None:
    """Reads, learns, scores, saves, and prints last."""
    if regression:
        given.refuse(("--C",), "with --regression, the weight is --alpha")
        given.refuse(("--positive",), "is for classes: leave it out with --regression")
        if common.cv is None:
            given.refuse(("--seed",), "with --regression, it is for the folds of --cv: leave it out")
    else:
        given.refuse(("--alpha",), "it is for --regression; for classes use --C")
    if learn != "risk":
        given.refuse(("--spread",), f"is for --learn risk: leave it out with --learn {learn}")
    common.check(reading.inputs(*files))
    chosen = kernel_option(kernel)
    shared: dict[str, Any] = {"groups": groups, "learn": learn, "spread": spread, "tol": tol} | common.parameters(
        printer
    )
    learner: Any = LearnedRidge(chosen, alpha, **shared)
    if not regression:
        learner = LearnedSVC(chosen, C, random_state=common.seed, **shared)
    checked(learner)
    data = reading.load(printer, files, True, chosen, labels=False)
    learner.kernel = data.kernel
    if not regression:
        check_classes(data.examples)
    batch = data.kernel.batch(data.X, learner.n_jobs)
    y = np.asarray(data.examples.targets()) if regression else np.array(data.labels)
    wanted = None if regression else positive_option(sorted(set(data.labels)), common.positive)
    scored = _scores(printer, learner, batch, y, common.cv, common.seed, wanted) if common.cv else None
    fit(learner, batch, y)
    job = TrainingJob(files, common, reading, printer)
    job.save(learner)
    tables, report, kernel_text = learner.learned_weights_, learner.learning_report_, format_kernel(data.kernel)
    by_class = tables if isinstance(tables, dict) else {"": tables}
    fields = {
        "kernel": f"{kernel_text}, {data.why}", "space": "", "solver": "", "training": "",
        "learning": describe_report(report, tol), "effect": _effect(learner),
    }  # fmt: skip
    weights = {str(label): [each._asdict() for each in table] for label, table in by_class.items()}
    values = {"kernel": kernel_text, "weights": weights, "learning": report.as_dict()}
    advice, file = "raise --max-epochs or --tol", data.examples.source
    trained = Trained(learner, file, data.why, scored, fields, values, [report], advice)
    trained.show(job, job.predict, details=lambda: _print_tables(printer, learner.groups == "parts", by_class, top))


def _scores(
    printer: Printer, learner: Any, batch: Any, y: np.ndarray, cv: int, seed: int, wanted: str | None
) -> HeldOut:
    """The scores of a cross-validation."""
    how = f"in {cv}-fold cross-validation"
    if is_classifier(learner):
        return held_out(learner, batch, y.tolist(), fold_splits(y.tolist(), cv, seed, printer), how, wanted)
    if len(y) < cv:
        raise InputError(f"there are {len(y)} examples: --cv {cv} is too much, try --cv {len(y)}")
    errors = []
    for train, test in KFold(cv, shuffle=True, random_state=seed).split(y):
        fitted = fit(clone(learner), batch[train], y[train])
        errors.append(float(np.sqrt(np.mean((fitted.predict(batch[test]) - y[test]) ** 2))))
    mean, spread = float(np.mean(errors)), float(np.std(errors))
    text = f"root mean squared error {mean:.4g} ± {spread:.2g}, {how}"
    return HeldOut(text, {"how": how, "rmse": errors, "folds": cv})


def _effect(learner: Any) -> str:
    """Explains the signs of effects where there are two classes."""
    names = [] if learner.groups == "parts" else learner.task().names
    return f"positive: for {names[1]}, negative: for {names[0]}" if len(names) == 2 else ""


def _print_tables(printer: Printer, parts: bool, tables: dict[Any, Any], top: int) -> None:
    name = "part" if parts else "feature"
    for label, table in tables.items():
        printer.print(f"{f'{label}: ' if label != '' else ''}{len(table):,} {name}s with weight")
        rows = [
            [each.name, f"{each.weight:.4g}", f"{each.share:.2%}", "" if each.effect is None else f"{each.effect:+.3g}"]
            for each in table[:top]
        ]
        printer.table([name, "weight", "share", "" if parts else "effect"], rows)
