"""Learned functions f_k(x) = <w_k, phi(x)> + b_k, stored as weights of features or coefficients of examples."""

from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from treille.data import Batch
from treille.features import Contributions, StringMap
from treille.io import stored
from treille.io.errors import InputError
from treille.io.model import model_bytes
from treille.io.parameters import check_choice, effective_n_jobs
from treille.kernels import Kernel
from treille.kernels.expansion import Expansion, FeatureWeights
from treille.kernels.fitting import FitContext
from treille.kernels.frozen import frozen_state, read_frozen
from treille.spaces.weight_automaton import pack_weights, unpack_weights

CHUNK = 1 << 23  # symbols turned into rows at a time


class DecisionFunctions(ABC):
    """One or more real functions on structured examples."""

    intercept: np.ndarray

    @abstractmethod
    def outputs(self, batch: Batch, n_jobs: int | None = None) -> np.ndarray:
        """One row per example, one column per function."""

    def shifted(self, amount: np.ndarray) -> "DecisionFunctions":
        """The same functions plus a constant each."""
        return replace(self, intercept=self.intercept + amount)  # type: ignore[type-var]

    @abstractmethod
    def contributions(self, batch: Batch, n_jobs: int | None = None) -> Contributions | None:
        """The contribution of each part of the examples to the outputs, without intercept; None if not defined by part."""

    @abstractmethod
    def sizes(self) -> str:
        """The size of the functions, in words."""

    @abstractmethod
    def state(self, representation: str = "flat") -> tuple[dict[str, Any], dict[str, np.ndarray]]:
        """Spec and arrays for a model file, with weights in this representation; `read_functions` is the inverse."""


@dataclass(frozen=True, eq=False)
class LinearFunctions(FeatureWeights, DecisionFunctions):
    """Weights of features: prediction takes time linear in the example."""

    intercept: np.ndarray

    def outputs(self, batch: Batch, n_jobs: int | None = None) -> np.ndarray:
        return np.concatenate([self._products(c, n_jobs) for c in batch.chunks(CHUNK)]) + self.intercept

    def contributions(self, batch: Batch, n_jobs: int | None = None) -> Contributions:
        return self._contributor(batch, n_jobs)

    def sizes(self) -> str:
        return f"{self.features.n_features:,} features with weight"

    def state(self, representation: str = "flat") -> tuple[dict[str, Any], dict[str, np.ndarray]]:
        check_choice("representation", representation, "auto", "flat", "automaton")
        kept = self.features.ids_for_norms(np.flatnonzero(self.weights.any(axis=1)))
        ways = []
        if representation != "automaton":
            spec, arrays = self.features.restrict(kept).state()
            ways.append(({"features": spec}, stored.under("features", arrays) | {"weights": self.weights[kept]}))
        if representation == "automaton" or (
            representation == "auto" and isinstance(self.features, StringMap) and self.features.has_strings()
        ):
            ways.append(pack_weights(self.features, kept, self.weights[kept]))
        spec, arrays = min(ways, key=lambda way: len(model_bytes(*way))) if len(ways) > 1 else ways[0]
        return spec, arrays | {"intercept": self.intercept}


@dataclass(frozen=True)
class KernelFunctions(DecisionFunctions):
    """Coefficients of training examples: prediction costs one kernel value for each of them."""

    kernel: Kernel
    support: Batch
    coefficients: np.ndarray  # one row per support example, one column per function
    intercept: np.ndarray

    @classmethod
    def of(cls, kernel: Kernel, batch: Batch, coefficients: np.ndarray, intercept: np.ndarray) -> "KernelFunctions":
        """Keeps only the examples that have weight."""
        kept = np.flatnonzero(coefficients.any(axis=1))
        return cls(kernel, batch[kept], coefficients[kept], intercept)

    def outputs(self, batch: Batch, n_jobs: int | None = None) -> np.ndarray:
        return self._expansion(n_jobs).values(batch, n_jobs) + self.intercept

    def contributions(self, batch: Batch, n_jobs: int | None = None) -> Contributions | None:
        return self._expansion(n_jobs).contributions(batch, n_jobs)

    def _expansion(self, n_jobs: int | None) -> Expansion:
        """Values of the support examples that predictions need, such as their norms; computed once."""
        kept = vars(self)
        if "expansion" not in kept:
            kept["expansion"] = self.kernel.expansion(self.support, self.coefficients, n_jobs)
        return kept["expansion"]

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in vars(self).items() if name != "expansion"}

    def sizes(self) -> str:
        return f"{len(self.support):,} examples with weight"

    def state(self, representation: str = "flat") -> tuple[dict[str, Any], dict[str, np.ndarray]]:
        check_choice("representation", representation, "auto", "flat", "automaton")
        if representation == "automaton":
            raise InputError(
                "representation is 'automaton', but the model keeps examples, not weights of features: use 'flat'"
            )
        (spec, arrays), (fitted, features) = self.support.state(), frozen_state(self.kernel)
        own = {"coefficients": self.coefficients, "intercept": self.intercept}
        return {"support": spec} | fitted, stored.under("support", arrays) | features | own


def functions_of_examples(
    kernel: Kernel, batch: Batch, coefficients: np.ndarray, intercept: np.ndarray, n_jobs: int | None = None
) -> DecisionFunctions:
    """f_k(x) = sum_i coefficients[i, k] k(x, x_i) + intercept_k, by weights of features where the kernel has them."""
    context = FitContext()
    if kernel.prefers_features(batch, n_jobs, context.known):
        features, rows = context.fit(kernel, batch, n_jobs)
        return LinearFunctions(features, rows.rmatvec(coefficients, effective_n_jobs(n_jobs)), intercept)
    return KernelFunctions.of(kernel, batch, coefficients, intercept)


def read_functions(
    kernel: Kernel, spec: dict[str, Any], arrays: dict[str, np.ndarray], n_functions: int
) -> DecisionFunctions:
    """Reads the functions of a model file and validates them."""
    part = "features" if "features" in spec else "support"
    inside = stored.value(spec, part, dict)
    own, intercept = stored.part(arrays, part), stored.array(arrays, "intercept", np.float64)
    functions: LinearFunctions | KernelFunctions
    if part == "features":
        if "automaton" in spec:
            features, weights = unpack_weights(kernel, spec, arrays)
        else:
            features, weights = kernel.load_features(inside, own), stored.array(arrays, "weights", np.float64, ndim=2)
        functions = LinearFunctions(features, weights, intercept)
        found, expected = functions.weights.shape, (functions.features.n_features, n_functions)
        if not features.problem_counts() <= {n_functions}:
            raise InputError("the weights of features in the file do not fit its classes")
    else:
        coefficients = stored.array(arrays, "coefficients", np.float64, ndim=2)
        kernel = read_frozen(kernel, spec, arrays)
        support = kernel.batch(Batch.from_state(inside, own))  # which refuses examples that the kernel does not read
        functions = KernelFunctions(kernel, support, coefficients, intercept)
        found, expected = functions.coefficients.shape, (len(functions.support), n_functions)
    if found != expected or intercept.shape != (n_functions,):
        raise InputError("the weights in the file do not fit its features and classes")
    return functions
