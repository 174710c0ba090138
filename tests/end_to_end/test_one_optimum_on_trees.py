"""Real trees, one problem, three solvers on three spaces: one optimum."""

import numpy as np
import pytest

from public_sets import cslog, data_folder
from treille.kernels import Subpath
from treille.solvers import SMO, CuttingPlane, DualCD, Problem
from treille.solvers.problem import Hinge
from treille.spaces import GramSpace, ProductSpace, RowsSpace

pytestmark = pytest.mark.skipif(data_folder() is None, reason="TREILLE_DATA is not set")


@pytest.mark.parametrize("index", ["arrays", "xbw"])
@pytest.mark.parametrize("intercept", [False, True])
def test_rows_products_and_kernel_values_lead_to_one_optimum(index, intercept):
    trees, labels = cslog("cslog12")
    few = np.random.default_rng(0).permutation(len(trees))[:800]
    trees, codes = trees[few], np.array(labels)[few].astype(int)
    kernel = Subpath(0.5, index=index).normalized()
    batch, problem = kernel.batch(trees), Problem(Hinge(), codes, np.ones(len(codes)), intercept, np.array([1]))
    exact = SMO().solve(problem, GramSpace.build(kernel, batch), tol=1e-8)
    by_planes = CuttingPlane().solve(problem, ProductSpace.build(kernel, batch), tol=1e-6, max_epochs=10_000)
    assert by_planes.report.primal == pytest.approx(exact.report.primal, rel=2e-6)
    if index == "arrays":
        by_rows = DualCD().solve(problem, RowsSpace.build(kernel, batch), tol=1e-6, max_epochs=10**6)
        assert by_rows.report.primal == pytest.approx(exact.report.primal, rel=2e-6)
