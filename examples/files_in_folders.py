"""Strings from a folder of files: one folder per class, one file per example.

The files are made first, from functions of the Python standard library.
"""

import tempfile
from pathlib import Path

from sklearn.model_selection import train_test_split

import treille
from treille.datasets import functions
from treille.kernels import NGram


def write_files(root: Path) -> None:
    for number, (text, package) in enumerate(zip(*functions(per_package=60), strict=True)):
        (root / package).mkdir(exist_ok=True)
        (root / package / f"{number}.py").write_text(text, encoding="utf-8")


def read_files(root: Path) -> tuple[list[str], list[str]]:
    files = sorted(root.glob("*/*.py"))
    return [file.read_text(encoding="utf-8") for file in files], [file.parent.name for file in files]


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        write_files(Path(folder))
        texts, labels = read_files(Path(folder))
    X, X_test, y, y_test = train_test_split(texts, labels, random_state=0, stratify=labels)
    model = treille.SVC(NGram(5).normalized(), n_jobs=-1).fit(X, y)
    print(model.plan_)
    print(model.report_)
    print(f"accuracy on {len(X_test)} files not seen in training: {model.score(X_test, y_test):.2f}")
    for label, features in model.top_features(4).items():
        print(f"{label:16}", *(repr(name) for name, _ in features))


if __name__ == "__main__":
    main()
