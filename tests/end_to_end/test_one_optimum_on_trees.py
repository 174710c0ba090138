"""Real trees, one problem, three solvers on three spaces: one optimum."""

import numpy as np
import pytest

from treille.datasets import cslog, data_folder
from treille.kernels import Subpath
from treille.solvers import SMO, CuttingPlane, DualCD
from treille.spaces import GramSpace, ProductSpace, RowsSpace

pytestmark = pytest.mark.skipif(data_folder() is None, reason="TREILLE_DATA is not set")
LARGE = (
    30.0  # a constant feature so large that its weight costs next to nothing: then the intercept is as free as SMO's
)


@pytest.mark.parametrize("index", ["arrays", "xbw"])
def test_rows_products_and_kernel_values_lead_to_one_optimum(index):
    trees, labels = cslog("cslog12")
    few = np.random.default_rng(0).permutation(len(trees))[:800]
    trees, codes = trees[few], np.array(labels)[few].astype(int)
    kernel = Subpath(0.5, index=index).normalized()
    batch, classes, C = kernel.batch(trees), np.array([1]), np.ones(len(codes))
    dense = GramSpace(kernel, batch)
    exact = SMO().solve(dense, codes, classes, C, tol=1e-8).report.primal
    by_planes = CuttingPlane().solve(
        ProductSpace.build(kernel, batch), codes, classes, C, bias=LARGE, tol=1e-6, max_epochs=10_000
    )
    assert by_planes.report.primal == pytest.approx(exact, rel=1e-5)
    if index == "arrays":
        rows = RowsSpace.build(kernel, batch)
        by_rows = DualCD().solve(rows, codes, classes, C, bias=LARGE, tol=1e-6, max_epochs=10**6)
        assert by_rows.report.primal == pytest.approx(exact, rel=1e-5)
