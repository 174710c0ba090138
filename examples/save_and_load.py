"""Save a model, load it, and look into the file: numbers and JSON, nothing that is executed."""

import json
import tempfile
from pathlib import Path

from safetensors import safe_open

import treille
from treille.datasets import functions
from treille.kernels import NGram


def main() -> None:
    texts, packages = functions(["email", "logging", "unittest"], per_package=100)
    model = treille.SVC(NGram(4).normalized()).fit(texts, packages)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "functions.treille"
        model.save(path)
        again = treille.load(path)
        print(f"{path.name}: {path.stat().st_size:,} bytes")
        with safe_open(path, framework="numpy") as file:
            spec = json.loads(file.metadata()["treille"])
            for name in file.keys():  # noqa: SIM118 (not a dict)
                print(f"  {name:16} {file.get_slice(name).get_dtype():4} {file.get_slice(name).get_shape()}")
    print("kernel:", spec["kernel"])
    print("proof: ", again.report_)
    new = ["def emit(self, record):\n    self.stream.write(self.format(record))"]
    assert (again.decision_function(texts + new) == model.decision_function(texts + new)).all()
    print("the same decisions, bit by bit;", new[0].splitlines()[0], "comes from", again.predict(new)[0])


if __name__ == "__main__":
    main()
