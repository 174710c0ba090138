"""Convert lattices and other machines from one file format into another, and graphs into JSON lines.

\b
Examples:
  treille convert dev.plf.gz dev.jsonl
  treille convert dev.ark.gz dev --to openfst --symbols words.txt
  treille convert MUTAG.zip mutag.jsonl

\b
Formats, and the suffixes by which they are recognised:
  plf            .plf          Python lattice format, one lattice per line
  openfst        .fst          OpenFst binary, one machine per file
  openfst-text   .fst.txt      OpenFst text, one machine per file
  kaldi          .ark          Kaldi's text archives
  slf            .slf          HTK, one lattice per file
  mesh           .mesh         confusion networks of SRILM
  confusion      .cn           confusion networks of Moses
  arcs           .jsonl        JSON lines of arcs and finals
  graphs         .jsonl        JSON lines of nodes and edges, with labels; from tu, gml, graphml and smiles, too

INPUT is a file, a folder, a glob in quotes or an archive; OUTPUT is a file, or a folder if the format holds one
machine per file and there are several. Numbers are read as the format defines, otherwise recognised by their values;
a note says how. Formats with one word per arc get the outputs of transducers.
"""

from collections.abc import Iterable
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import typer

from treille import InputError
from treille.cli import options
from treille.cli.models import check_writable
from treille.cli.options import Weights, argument, option
from treille.data.format import count
from treille.data.graphs import Graphs
from treille.io import graphs, read
from treille.io.atomic_write import STANDARD_OUTPUT
from treille.io.examples import Examples
from treille.io.lattices import ACCEPTORS, TITLES, format_to_write, write_lattices
from treille.io.machine import MachineList
from treille.io.open import STANDARD_INPUT
from treille.io.packed_graphs import PackedGraphs

BY_NAME, BY_CONTENT = "recognised by its name", "recognised by name or content"


@options.with_options("text", "label", "labels", "root_label", "skip_unlabelled", "format", "alphabet")
def run(
    source: Annotated[str, argument("INPUT", "A file of lattices, a folder, a glob or an archive.")],
    target: Annotated[Path, argument("OUTPUT", "The file to write; .gz is zipped; - is standard output.")],
    source_format: Annotated[str | None, option("NAME", "Format of INPUT.", "--from", default=BY_CONTENT)] = None,
    target_format: Annotated[str | None, option("NAME", "Format of OUTPUT.", "--to", default=BY_NAME)] = None,
    text: Annotated[str | None, option("FIELD", "Field of the lattice, in JSON lines.", default="plf")] = None,
    to_weights: Annotated[
        Weights | None, option("KIND", "Numbers in OUTPUT.", default="as its format has them")
    ] = None,
    *,
    reading: options.ReadingOptions,
    force: options.Force = False,
    printer: options.Output,
) -> None:
    """Reads all, then writes."""
    choices = (source_format, "--from", {**TITLES, **graphs.TITLES}), (target_format, "--to", {**TITLES, "graphs": ""})
    for name, given, known in choices:
        if name is not None and name not in known:
            raise typer.BadParameter(f"{name!r} is none of {', '.join(known)}", param_hint=given)
    kind = "graphs" if target_format == "graphs" else format_to_write(target, target_format)
    piped = str(target) == STANDARD_OUTPUT
    if piped and printer.json:
        raise typer.BadParameter("standard output cannot hold both: leave it out, or name a file", param_hint="--json")
    if not target.is_dir() and not piped:
        check_writable(target, "graphs" if kind == "graphs" else "lattices", reading.inputs(source), force)
    elif not force and target.is_dir() and Path(source).is_dir() and target.samefile(source):
        raise InputError(
            f"{target}: is the input of this command: choose another folder, or give --force to overwrite it"
        )
    with printer.busy(f"reading {source}"):
        how: dict[str, Any] = {name: getattr(reading, name) for name in ("encoding", "weights", "scale", "symbols")}
        reader = partial(read, source, format=source_format, text=text, **how)
        examples = reader(labelled=None if kind == "graphs" else False)  # lattices are written without labels
        if isinstance(examples.X, PackedGraphs) and kind == "arcs" and source != STANDARD_INPUT:
            kind, examples = "graphs", reader(labelled=None)
    printer.note(examples.note)
    written, noun, n = [target], "graph", len(examples)
    if kind == "graphs":
        if not isinstance(examples.X, PackedGraphs):
            raise _unlike(examples, graphs.TITLES, "graphs")
        with printer.busy(f"writing {target}"):
            graphs.write_graphs(target, list(Graphs(examples.X)), examples.labels)
    else:
        if not isinstance(examples.X, MachineList):
            raise _unlike(examples, TITLES, "lattices")
        machines, noun = examples.X.acceptors() if kind in ACCEPTORS else examples.X.machines, "lattice"
        with printer.busy(f"writing {target}"):
            written, n = write_lattices(target, machines, kind, to_weights), len(machines)
    files = (
        "standard output"
        if piped
        else str(written[0])
        if len(written) == 1
        else f"{len(written):,} files in {written[0].parent}"
    )
    done = f"{count(n, noun)} written to {files}, {(TITLES | graphs.TITLES)[kind]}"
    printer.note(done) if piped else printer.print(done, wrap=False)
    printer.result({f"{noun}s": n, "from": examples.format, "to": kind, "written": [str(path) for path in written]})


def _unlike(examples: Examples, known: Iterable[str], what: str) -> InputError:
    return InputError(
        f"{examples.source}: does not look like {what}; name their format with --from: {', '.join(known)}"
    )
