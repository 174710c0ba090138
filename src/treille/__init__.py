"""Support vector machines on structured data: exact, in time linear in the data, with a scikit-learn API.

>>> import treille
>>> from treille.kernels import NGram
>>> texts, labels = ["to be or not", "be to not or", "01101", "10110"], ["text", "text", "bits", "bits"]
>>> model = treille.SVC(kernel=NGram(3), C=1.0).fit(texts, labels)
>>> model.predict(["not to be", "111011"]).tolist()
['text', 'bits']
"""

import importlib.util
import typing

if typing.TYPE_CHECKING:
    from treille.estimators import *  # noqa: F403
    from treille.public import *  # noqa: F403
    from treille.public import __all__ as __all__
    from treille.public import __version__ as __version__
else:
    # Formats of other packages are known to treille.io, whatever is imported first.
    importlib.import_module("treille.registry")

    def __getattr__(name: str) -> object:
        """Imports the public names when one is used: scikit-learn takes a second, and `treille --version` does not need it."""
        if not name.startswith("__") and importlib.util.find_spec(f"treille.{name}") is not None:
            return importlib.import_module(f"treille.{name}")
        public = importlib.import_module("treille.public")
        if name not in {*public.__all__, "__all__", "__version__"}:
            raise AttributeError(f"module 'treille' has no attribute {name!r}")
        value = globals()[name] = getattr(public, name)
        return value

    def __dir__() -> list[str]:
        return sorted({*globals(), *importlib.import_module("treille.public").__all__})
