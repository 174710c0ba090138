"""The choice of kernel, space and solver for a problem, with reasons."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

from treille.drawing.tables import facts
from treille.io.errors import InputError
from treille.kernels import Centered, Kernel
from treille.kernels.fitting import FitContext
from treille.kernels.frozen import can_be_frozen
from treille.kernels.parse import default_kernel
from treille.kernels.precomputed import as_kernel
from treille.kernels.wrapped import WrappedKernel
from treille.solvers import (
    SMO,
    BlockMinimization,
    BundleMethod,
    Cholesky,
    ClusterGradients,
    ConjugateGradient,
    CuttingPlane,
    DualCD,
    FiniteNewton,
    GatheredDualCD,
    NormalEquations,
    Problem,
)
from treille.solvers.solver import check_supported, supports
from treille.spaces import ClusterSpace, Nystrom, PartsSpace, ProductSpace, RowsSpace, Source

SOLVERS: dict[Any, str] = {  # what "auto" chooses from, preferred ones first
    NormalEquations: "because there are few features",
    ConjugateGradient: "because it needs one product with the kernel matrix per epoch",
    ClusterGradients: "because the rows are on a cluster, and it needs one round per step",
    Cholesky: "because it needs only kernel values",
    FiniteNewton: "because the loss is smooth, so that Newton's method needs few passes over the data",
    DualCD: "because it works on rows and reports its duality gap",
    CuttingPlane: "because it needs one product with the kernel matrix per round",
    GatheredDualCD: "because the rows of all parts fit here, where it needs the fewest passes",
    BundleMethod: "because the rows stay on the cluster, and it needs few rounds",
    BlockMinimization: "because the rows are in parts on disk",
    SMO: "because it needs only kernel values and stores few of them",
}


@dataclass(frozen=True)
class Plan:
    """The choices made for a model, and why. `space` is the class of the space, or the `Nystrom` that builds it.

    >>> import treille
    >>> plan = treille.SVC(treille.kernels.AllSubstrings(0.5)).fit(["abba", "baab"], [0, 1]).plan_
    >>> plan.space.name, plan.solver
    ('product', CuttingPlane())
    >>> print(plan)
    kernel: AllSubstrings(decay=0.5), as given
    space: product, because AllSubstrings multiplies its matrix in less time than it takes to write it out
    solver: CuttingPlane(), because it needs one product with the kernel matrix per round
    sizes: 2 examples, 8 symbols, 4 shared nodes of the suffix tree, 112 bytes
    """

    kernel: Kernel
    kernel_why: str
    space: Any = None  # None, like solver: unknown, for a model read from a file
    space_why: str = ""
    solver: Any = None
    solver_why: str = ""
    representation: str = ""
    sizes: str = ""
    class_weights: str = ""  # advice, where they change little

    def rows(self) -> dict[str, str]:
        """Each choice and the reason for it.

        >>> Plan(default_kernel(["ab"])[0], "as given").rows()["kernel"][-8:]
        'as given'
        """
        lines = {"kernel": f"{self.kernel!r}, {self.kernel_why}"}
        if self.space is not None:
            lines["space"] = f"{self.space.name}, {self.space_why}"
            lines["solver"] = f"{self.solver!r}, {self.solver_why}"
        lines |= {"representation": self.representation, "sizes": self.sizes, "class weights": self.class_weights}
        return {name: said for name, said in lines.items() if said}

    def __str__(self) -> str:
        return "\n".join(f"{name}: {said}" for name, said in self.rows().items())

    def _repr_html_(self) -> str:
        return facts("Plan", self.rows())


def choose_kernel(kernel: Any, X: Any, labels: bool = False) -> tuple[Kernel, str]:
    """The kernel that an estimator's parameter `kernel` means for data X, with or without labels, and the reason."""
    chosen = as_kernel(kernel)
    return default_kernel(X, labels=labels) if chosen is None else (chosen, "as given")


def plan(
    source: Source,
    problem: Problem,
    solver: Any = "auto",
    space: Any = "auto",
    n_jobs: int | None = None,
    context: FitContext | None = None,
) -> tuple[Plan, Any]:
    """Chooses a space of the examples and a solver that supports the problem on it. Returns the plan and the space.

    The choice never changes the optimum: that depends on the problem and the kernel alone.
    """
    kernel, loss, intercept, context = source.kernel, type(problem.loss), problem.intercept, context or FitContext()
    if not can_be_frozen(kernel):
        if isinstance(kernel, Centered):
            raise InputError(
                f"{kernel!r} cannot be used by an estimator, since {kernel.kernel!r} has no explicit features to take means of: "
                "leave .centered() out; with a free intercept it would change nothing"
            )
        raise InputError(
            f"{kernel!r} cannot be used by an estimator, since one of its parts has no explicit features: leave out this part, "
            "or .weighted() and .centered(), which need the features of the training examples"
        )
    nystrom = requested_nystrom(space)
    if solver == "auto":
        solvers, wanted = [each() for each in SOLVERS if supports(each, loss, intercept)], None
    else:
        check_supported(solver, loss, intercept)
        solvers, wanted = [solver], solver.spaces
    spaces: Sequence[Any] = (nystrom,) if nystrom is not None else source.spaces(wanted, context, n_jobs)
    built_as = [(each, RowsSpace if isinstance(each, Nystrom) else each) for each in spaces]  # Nystrom builds rows
    pairs = [(each, s) for each, space in built_as for s in solvers if space in s.spaces]
    if not pairs:
        raise _refusal(kernel, solvers, nystrom, intercept)
    builder = pairs[0][0]
    built = source.build_space(builder, context, n_jobs)
    candidates = [s for each, s in pairs if each is builder]
    chosen = next((s for s in candidates if len(candidates) == 1 or s.recommended(built, problem)), candidates[-1])
    why = "as given" if solver != "auto" else SOLVERS[type(chosen)]
    reason = _reason(kernel, spaces, builder, chosen, solver)
    return Plan(kernel, source.kernel_why, builder, reason, chosen, why), built


def requested_nystrom(space: Any) -> Nystrom | None:
    """The approximation that an estimator's parameter `space` requests: None for "auto"."""
    if isinstance(space, Nystrom):
        space.check()
        return space
    if isinstance(space, str) and space in ("auto", "nystrom"):
        return Nystrom() if space == "nystrom" else None
    raise InputError(f"space is {space!r}, expected 'auto', 'nystrom' or treille.spaces.Nystrom(n_landmarks=...)")


def _refusal(kernel: Kernel, solvers: list[Any], nystrom: Nystrom | None, intercept: Any) -> InputError:
    name = " or ".join(type(each).__name__ for each in solvers)
    if nystrom is not None:
        advice = "use space='auto'" if intercept == "free" else "use solver='auto' or DualCD()"
        return InputError(f"space={nystrom!r} provides rows, which {name} does not use: {advice}")
    if all(each.spaces == (PartsSpace,) for each in solvers):
        return InputError(f"{name} works on data in parts: pass X as treille.scale.Parts, or use solver='auto'")
    needs = " or ".join(space.needs for space in islice(dict.fromkeys(s for each in solvers for s in each.spaces), 3))
    return InputError(f"{name} needs {needs}, which {kernel!r} does not provide: use solver='auto' or SMO()")


def _reason(kernel: Kernel, spaces: Sequence[Any], space: Any, solver: Any, given: Any) -> str:
    name, family = type(solver).__name__, _family(kernel)
    if isinstance(space, Nystrom):
        return "as given: an approximation by kernel values with landmark examples"
    if given != "auto" and space is not RowsSpace:
        return f"because {name} works on it"
    reasons = {
        ClusterSpace: "because the data are on a cluster",
        PartsSpace: "because the data are in parts, which need not fit in memory",
        RowsSpace: f"because {family} has explicit features: cost grows with the data, not with its square",
        ProductSpace: f"because {family} multiplies its matrix in less time than it takes to write it out",
    }
    if space in reasons:
        return reasons[space]
    if given == "auto" and kernel.has_features and RowsSpace not in spaces:
        return f"because kernel values cost less than the explicit features of {family} for these examples"
    if kernel.has_features or ProductSpace in spaces:
        return f"because {name} supports this problem: cost grows with the square of the number of examples"
    return f"because {family} has no explicit features: cost grows with the square of the number of examples"


def _family(kernel: Kernel) -> str:
    return _family(kernel.kernel) if isinstance(kernel, WrappedKernel) else type(kernel).__name__
