"""Spaces: a kernel met with a batch; what a solver may ask. `plan` picks one and says why."""

from treille.spaces.gram import GramSpace
from treille.spaces.plan import Plan, plan
from treille.spaces.product import ProductSpace
from treille.spaces.rows import RowsSpace

__all__ = ["GramSpace", "Plan", "ProductSpace", "RowsSpace", "plan"]
