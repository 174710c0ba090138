"""The base classes of scikit-learn, with types.

scikit-learn ships no types, so for a type checker its classes are Any, and a dataclass derived from Any accepts any argument:
``SVC(kernal=3)`` would pass. Type checkers therefore see the declarations below, and Python the classes themselves.
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from typing_extensions import Self  # part of typing from Python 3.11 on

    class BaseEstimator:
        """Parameters by name, and everything that depends on them: clones, grids, what is printed."""

        def get_params(self, deep: bool = True) -> dict[str, Any]: ...
        def set_params(self, **params: Any) -> Self: ...
        def __sklearn_tags__(self) -> Any: ...

    class ClassifierMixin:
        """The accuracy as score."""

        def score(self, X: Any, y: Any, sample_weight: Any = None) -> float: ...

    class RegressorMixin:
        """R^2 as score."""

        def score(self, X: Any, y: Any, sample_weight: Any = None) -> float: ...

    class OutlierMixin:
        """`fit` and `predict` in one call."""

        def fit_predict(self, X: Any, y: Any = None) -> Any: ...

    class TransformerMixin:
        """`fit` and `transform` in one call, and the container of the output."""

        def fit_transform(self, X: Any, y: Any = None) -> Any: ...
        def set_output(self, *, transform: Any = None) -> Self: ...

else:
    from sklearn.base import BaseEstimator, ClassifierMixin, OutlierMixin, RegressorMixin, TransformerMixin

    Self = Any

__all__ = ["BaseEstimator", "ClassifierMixin", "OutlierMixin", "RegressorMixin", "Self", "TransformerMixin"]
