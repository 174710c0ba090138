"""Tag sentences: write the lines of files with the tag as one more column.

\b
Examples:
  treille tag run chunks.treille new.txt > tagged.txt
  treille tag run chunks.treille new.txt.gz --output tagged.txt --beam 1
  echo "Vines NNS" | treille tag run chunks.treille

Without FILE, reads standard input. Lines are written as soon as they can be: from a pipe, sentence by sentence as
they arrive. Memory does not depend on the size of the input. The model reads as many columns as it was trained with;
further columns are kept and ignored. In CoNLL-U, the tags replace those in the column that the model was trained on.
A model of CRFsuite items reads such lines, and writes the tags alone.
"""

import re
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import Annotated, Any

from treille import InputError, Tagger
from treille.cli import options
from treille.cli.models import check_writable, refuse_model
from treille.cli.options import argument, option
from treille.cli.tag import sentences
from treille.data.format import count, seconds
from treille.io.atomic_write import STANDARD_OUTPUT
from treille.io.open import STANDARD_INPUT, source_name
from treille.tagging import Sentences

END_OF_SENTENCE = re.compile(rb"\n\r?\n\Z")


@options.with_options()
def run(
    model: sentences.TaggerFile,
    files: Annotated[list[str] | None, argument("[FILE]", "Sentences; - or none is standard input.")] = None,
    output: Annotated[str, option("PATH", "Where to write; - is standard output.")] = STANDARD_OUTPUT,
    beam: sentences.Beam = None,
    encoding: sentences.Encoding = "utf-8",
    jobs: options.Jobs = None,
    force: options.Force = False,
    *,
    printer: options.ResultOutput,
) -> None:
    """Reads a model, and tags sentences block by block."""
    paths = files or [STANDARD_INPUT]
    if output != STANDARD_OUTPUT:
        check_writable(Path(output), "tags", [str(model), *paths], force)
    tagger = sentences.load_tagger(model, paths, beam, jobs)
    for path in paths:
        refuse_model(path)
    value: dict[str, Any] = {"model": str(model), "file": sentences.source(paths), "sentences": 0, "tokens": 0}
    if STANDARD_INPUT in paths and sys.stdin is not None and sys.stdin.isatty():
        printer.note("reading standard input: one token per line, and a blank line after each sentence")
    start, tags = time.perf_counter(), list[list[str]]()
    standard: AbstractContextManager[Any] = nullcontext(None if printer.json else sys.stdout.buffer)
    with standard if output == STANDARD_OUTPUT else open(output, "wb") as stream:
        for text, tagged in _tagged(tagger, paths, encoding):
            value["sentences"] += len(tagged)
            value["tokens"] += tagged.n_tokens
            if stream is None:
                tags += list(tagged)
            else:
                stream.write(text)
                stream.flush()
    took = time.perf_counter() - start
    done = f"{count(value['sentences'], 'sentence')}, {count(value['tokens'], 'token')} tagged in {seconds(took)}"
    printer.note(done + (f", written to {output}" if output != STANDARD_OUTPUT else ""))
    printer.result(value | ({"tags": tags} if stream is None else {"output": output, "seconds": took}))


def _tagged(model: Tagger, paths: Sequence[str], encoding: str) -> Iterator[tuple[bytes, Sentences]]:
    """Yields text to write and the tags of its sentences. No sentence spans two files."""
    for i, path in enumerate(paths):
        ending, found = b"", False
        for X, block in sentences.blocks_for(model, path, encoding):
            tags = model.tagged(X)
            lines = "".join("\n".join([*each, "", ""]) for each in tags) if block is None else ""
            text = lines.encode(encoding) if block is None else block.with_tags(tags, model.reading_.get("tag_column"))
            found, ending = found or tags.n_tokens > 0, (ending + text)[-3:]
            yield text, tags
        if not found:
            raise InputError(f"{source_name(path)}: found no token, expected one per line")
        if i + 1 < len(paths) and not END_OF_SENTENCE.search(ending):
            yield b"\n" if ending.endswith(b"\n") else b"\n\n", Sentences([])
