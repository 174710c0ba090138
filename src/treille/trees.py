"""Trees, and the index of them.

>>> from treille.trees import XBW, Trees
>>> XBW(Trees(["(S (NP he) (VP sat))"])).count("S/VP")
1
"""

from treille.data.trees import Trees
from treille.data.xbw import XBW

__all__ = ["XBW", "Trees"]
