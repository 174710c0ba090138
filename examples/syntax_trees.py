"""Functions as syntax trees: which package of the standard library does one come from, and which subtrees tell?

`SubTree` has explicit features, each a subtree in brackets; `SubsetTree` finds more in common, by its matrix.
"""

from sklearn.model_selection import train_test_split

import treille
from treille.datasets import functions
from treille.kernels import SubsetTree, SubTree


def main() -> None:
    texts, packages = functions(["email", "json", "logging"], per_package=120)
    trees = treille.Trees.from_ast(texts, names=True)
    print(trees)
    train, test, y, truth = train_test_split(range(len(trees)), packages, random_state=0)
    for kernel in (SubTree(0.4, leaves=True), SubsetTree(0.1, leaves=True)):
        model = treille.SVC(kernel.normalized(), n_jobs=-1).fit(trees[train], y)
        print(f"{kernel}: accuracy {model.score(trees[test], truth):.2f}, {model.plan_.space.name}")
        if kernel.has_features:
            for package, features in model.top_features(3).items():
                print(f"  {package}: {', '.join(name for name, _ in features)}")


if __name__ == "__main__":
    main()
