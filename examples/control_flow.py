"""Functions as graphs of control flow and data flow: which package of the standard library does one come from?

`WeisfeilerLehman` and `EdgeHistogram` have explicit features, whose names show what the model looks at.
"""

from sklearn.model_selection import train_test_split

import treille
from treille.datasets import function_graphs
from treille.kernels import EdgeHistogram, WeisfeilerLehman


def main() -> None:
    graphs, packages = function_graphs(["email", "json", "logging"], per_package=120)
    batch = treille.Graphs(graphs)
    print(batch)
    print(f"the first: {batch[0]}")
    train, test, y, truth = train_test_split(range(len(batch)), packages, random_state=0)
    for kernel in (WeisfeilerLehman(2, counts="log"), EdgeHistogram(ends=True, counts="log")):
        model = treille.SVC(kernel.weighted("idf").normalized(), n_jobs=-1).fit(batch[train], y)
        print(f"{kernel}: accuracy {model.score(batch[test], truth):.2f}")
        for package, features in model.top_features(3).items():
            print(f"  {package}: {', '.join(name for name, _ in features)}")


if __name__ == "__main__":
    main()
