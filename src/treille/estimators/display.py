"""How notebooks show fitted models: scikit-learn's diagram, and below it what was learned."""

from typing import Any


class LearnedDisplay:
    """Adds the plan and the report of the training to the HTML of an estimator.

    >>> import treille
    >>> model = treille.SVC(treille.kernels.NGram(1)).fit(["a", "b"], [0, 1])
    >>> "duality gap" in model._repr_html_()
    True
    """

    def _repr_html_inner(self) -> str:
        return str(super()._repr_html_inner()) + self._learned_html()  # type: ignore[misc]

    def _repr_mimebundle_(self, **options: Any) -> dict[str, Any]:
        bundle: dict[str, Any] = super()._repr_mimebundle_(**options)  # type: ignore[misc]
        if "text/html" in bundle:
            bundle["text/html"] += self._learned_html()
        return bundle

    def _learned_html(self) -> str:
        shown = (getattr(self, name, None) for name in ("plan_", "report_"))
        tables = "".join(each._repr_html_() for each in shown if each is not None)
        return f'<div class="treille-learned">{tables}</div>' if tables else ""
