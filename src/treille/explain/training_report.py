"""What a report says about the model itself: its plan, how training ended, its features, and warnings."""

from __future__ import annotations

from collections.abc import Sequence
from math import isfinite
from typing import Any

import numpy as np

from treille.data.format import count, seconds, visible, visible_label
from treille.explain.outputs import names_of
from treille.explain.page import Content, Feature, Panel
from treille.explain.plots import Line, axis_of, plot
from treille.kernels.parse import format_kernel

MOST_FEATURES = 60  # of each class
MOST_CLASSES = 40
SPREAD = 30  # from this ratio on, the objective is shown on a logarithmic axis


def of_model(model: Any, warnings: Sequence[str] = ()) -> Content:
    """The content of a report without examples."""
    kernel = format_kernel(model.plan_.kernel)
    panel, note = convergence(model.report_)
    top, told = features(model) if hasattr(model, "functions_") else ({}, "")
    return Content(
        name="",
        title=f"{type(model).__name__} with {kernel}",
        summary=trained_in(model.report_),
        convergence=panel,
        convergence_note=note,
        features=top,
        features_note=told,
        plan=plan(model),
        warnings=[*warnings, *of_training(model)],
    )


def trained_in(report: Any) -> str:
    """How training ended, in few words."""
    return f"Trained in {seconds(report.seconds)}" if report.seconds else "Trained"


def plan(model: Any) -> dict[str, str]:
    """What was chosen and why, the parameters, and how training ended."""
    chosen = dict(line.split(": ", 1) for line in str(model.plan_).splitlines() if ": " in line)
    skipped = ("kernel", "n_jobs", "verbose", "templates")
    values = {k: v for k, v in model.get_params(deep=False).items() if k not in skipped and v is not None}
    chosen["parameters"] = ", ".join(f"{name}={value!r}" for name, value in values.items())
    report = model.report_
    several = f", {count(len(report.per_class), 'problem')}" if report.per_class else ""
    ended = "converged" if report.status == "converged" else f"stopped at {report.status}, not converged"
    chosen["training"] = (
        f"{ended}, relative duality gap {report.relative_gap:.1e} (tol {model.tol:g}){several}, "
        f"{count(report.epochs, 'epoch')}, {seconds(report.seconds)}, seed {report.seed}"
    )
    return chosen


def of_training(model: Any) -> list[str]:
    """Warnings that the report of the solver gives reason for."""
    report, said = model.report_, []
    if report.status != "converged":
        said.append(
            f"training stopped at {report.status} with a relative duality gap of {report.relative_gap:.2g}, "
            f"asked for {model.tol:g}: raise max_epochs, use a larger tol, more regularisation, or a normalized kernel"
        )
    if report.approximation_error > 0:
        said.append(f"the space approximates the kernel: {report.approximation_error:.2g} of its trace was lost")
    if getattr(getattr(model, "features_", None), "n_features", 1) == 0:
        said.append("no training example has a feature of this kernel, so the model cannot distinguish examples")
    return said


def convergence(report: Any) -> tuple[Panel | None, str]:
    """Primal and dual value over the seconds of training."""
    points = [p for p in getattr(report, "history", ()) if all(isfinite(v) for v in p)]
    if len(points) < 2:
        return (
            None,
            "The values during training were not recorded: the solver has none, or the model was read from a file.",
        )
    times, primal, dual = (np.array(column, float) for column in zip(*points, strict=True))
    log = float(dual[-1]) > 0 and float(primal.max()) > SPREAD * float(dual[-1])
    kept = dual > 0 if log else np.full(len(dual), True)
    values = [*primal.tolist(), *dual[kept].tolist()]
    if log:
        values = [v for v in values if v >= dual[-1] / SPREAD]
    lines = [
        Line("model", times.tolist(), primal.tolist()),
        Line("other", times[kept].tolist(), dual[kept].tolist()),
    ]
    x, y = axis_of("seconds", [0.0, *times.tolist()]), axis_of("objective", values, log)
    drawn = plot("convergence", x, y, lines)
    text = f"Primal, from above, and dual value, from below; the optimum is between them. Last gap: {report.relative_gap:.1e}"
    return Panel("", [(text, drawn)]), ""


def features(model: Any) -> tuple[dict[str, list[Feature]], str]:
    """The features with the largest weights, by class or target, and a note."""
    if not hasattr(model, "features_"):
        return {}, f"{type(model.plan_.kernel).__name__} has no explicit features, so there are no weights to list."
    if hasattr(model, "top_features"):
        top = dict(zip(names_of(model), model.top_features(MOST_FEATURES).values(), strict=True))
        shown = {visible_label(name): [_feature(*each) for each in found] for name, found in top.items()}
        note = "The largest weights in favour of each class."
    else:
        weights = np.atleast_2d(model.coef_)
        orders = [np.argsort(-np.abs(row), kind="stable")[:MOST_FEATURES] for row in weights]
        name = model.features_.name
        shown = {
            f"target {t}" if len(weights) > 1 else "": [_feature(name(int(i)), float(row[i])) for i in order if row[i]]
            for t, (row, order) in enumerate(zip(weights, orders, strict=True))
        }
        note = "The largest weights, of either sign."
    if len(shown) > MOST_CLASSES:
        note += f" The first {MOST_CLASSES} of {len(shown)} classes."
        shown = dict(list(shown.items())[:MOST_CLASSES])
    return shown, f"{note} {model.features_.n_features:,} features have a weight in all."


def _feature(name: str, weight: float) -> Feature:
    return Feature(visible(name), weight)
