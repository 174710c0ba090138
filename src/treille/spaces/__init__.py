"""Spaces: a kernel met with a batch; what a solver may ask. `plan` picks one and says why."""

from treille.spaces.gram import GramSpace
from treille.spaces.nystrom import Nystrom, NystromSpace
from treille.spaces.plan import Plan, plan
from treille.spaces.product import ProductSpace
from treille.spaces.rows import RowsSpace

__all__ = ["GramSpace", "Nystrom", "NystromSpace", "Plan", "ProductSpace", "RowsSpace", "plan"]
