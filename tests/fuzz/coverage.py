"""One reader guided by coverage, with Atheris: ``python -m tests.fuzz.coverage read-a.csv 600 [options of libFuzzer]``.

Atheris (``pip install atheris``) ends the process with the first finding and writes its input to build/fuzz.
"""

import contextlib
import sys
import tempfile
from pathlib import Path


def main() -> None:
    import atheris

    with atheris.instrument_imports(include=["treille"]):
        from .readers import CORPUS, TARGETS_BY_NAME
        from .runner import MEMORY, SECONDS

    from treille.io.errors import InputError

    name, seconds, options = sys.argv[1], int(sys.argv[2]), sys.argv[3:]
    folder, save = Path(tempfile.mkdtemp()), Path("build/fuzz")
    save.mkdir(parents=True, exist_ok=True)
    target = TARGETS_BY_NAME[name](folder)
    corpus = folder / "corpus"
    corpus.mkdir()
    (corpus / "seed").write_bytes((CORPUS / name.partition("-")[2]).read_bytes())

    def check(data: bytes) -> None:
        with contextlib.suppress(InputError):
            target.run(data)

    limits = [f"-max_total_time={seconds}", f"-timeout={SECONDS:.0f}", f"-rss_limit_mb={(MEMORY >> 20) + 1000}"]
    atheris.Setup(
        [sys.argv[0], *limits, f"-artifact_prefix={save}/{name}-", "-max_len=20000", *options, str(corpus)], check
    )
    atheris.Fuzz()


if __name__ == "__main__":
    main()
