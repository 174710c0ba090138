"""Support vector machines on structured data: exact, in time linear in the data, with a scikit-learn API.

>>> import treille
>>> from treille.kernels import NGram
>>> texts, labels = ["to be or not", "be to not or", "01101", "10110"], ["text", "text", "bits", "bits"]
>>> model = treille.SVC(kernel=NGram(3), C=1.0).fit(texts, labels)
>>> model.predict(["not to be", "111011"]).tolist()
['text', 'bits']
"""

from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from treille.estimators import *  # noqa: F403
    from treille.public import *  # noqa: F403
    from treille.public import __all__ as __all__
    from treille.public import __version__ as __version__
else:
    import_module("treille.registry")  # formats of other packages are known to treille.io, whatever is imported first

    def __getattr__(name: str) -> Any:
        """Imports the public names when one is used: scikit-learn takes a second, and `treille --version` does not need it."""
        if name.islower() and not name.startswith("_") and _has_module(name):
            return import_module(f"treille.{name}")
        if name not in ("__all__", "__version__") and name.startswith("_"):
            raise AttributeError(f"module 'treille' has no attribute {name!r}")
        public = import_module("treille.public")
        if not hasattr(public, name):
            raise AttributeError(f"module 'treille' has no attribute {name!r}")
        value = globals()[name] = getattr(public, name)
        return value

    def _has_module(name: str) -> bool:
        return any(Path(folder, name).is_dir() or Path(folder, f"{name}.py").is_file() for folder in __path__)  # noqa: F405

    def __dir__() -> list[str]:
        return sorted({*globals(), *import_module("treille.public").__all__})
