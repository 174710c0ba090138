"""DNA from FASTA, and how long the k-mers should be.

The sequences are made first: random ones, half of them with a motif of eight letters, one of which may be wrong.
"""

import random
import tempfile
from pathlib import Path

from sklearn.model_selection import GridSearchCV, train_test_split

import treille
from treille.io import read
from treille.kernels import NGram

MOTIF = "TGACGTCA"


def write_fasta(path: Path, count: int = 400, length: int = 80) -> None:
    source = random.Random(0)
    with path.open("w", encoding="ascii") as file:
        for number in range(count):
            letters = source.choices("ACGT", k=length)
            if number % 2:
                motif = list(MOTIF)
                motif[source.randrange(len(motif))] = source.choice("ACGT")
                place = source.randrange(length - len(motif))
                letters[place : place + len(motif)] = motif
            file.write(f">{'site' if number % 2 else 'none'} number={number}\n{''.join(letters)}\n")


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "sites.fasta"
        write_fasta(path)
        examples = read(path, labelled=True)
    print(examples.note)
    X, X_test, y, y_test = train_test_split(examples.X, examples.labels, random_state=0)
    grid = {"kernel__kernel__n": [2, 3, 4, 5, 6, 7, 8], "C": [1.0, 10.0]}
    search = GridSearchCV(treille.SVC(NGram().normalized()), grid, cv=5).fit(X, y)
    for parameters, score in zip(search.cv_results_["params"], search.cv_results_["mean_test_score"], strict=True):
        print(f"n = {parameters['kernel__kernel__n']}, C = {parameters['C']:4}: {score:.3f}")
    print(f"best: {search.best_params_}, accuracy on held-out sequences {search.score(X_test, y_test):.3f}")
    print("what speaks for a site:", *(name for name, _ in search.best_estimator_.top_features(5)["site"]))


if __name__ == "__main__":
    main()
