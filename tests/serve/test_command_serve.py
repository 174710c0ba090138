"""`treille serve`: started as a program, asked, and stopped."""

from __future__ import annotations

import json
import signal
import socket
import subprocess
import sys
import threading
import time

import pytest
from served_models import CASES
from serving import Client

import treille
from treille.cli import main
from treille.cli.console import Printer
from treille.cli.options import Reading
from treille.cli.serve import _samples
from treille.serve.api import Served
from treille.serve.playground import page


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A folder with the model of texts, and a file of examples."""
    path = tmp_path_factory.mktemp("serve")
    CASES["texts"]().model.save(path / "wines.treille")
    (path / "new.csv").write_text("text,label\na red <b>wine</b>,red\nwhite,white\n")
    return path


@pytest.fixture
def start(folder):
    """Starts the command with these options, and returns its process and a client."""
    processes = []

    def call(*options, model="wines.treille"):
        command = [
            sys.executable,
            "-m",
            "treille",
            "serve",
            str(folder / model),
            "--port",
            "0",
            "--json",
            *map(str, options),
        ]
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=folder)
        processes.append(process)
        line = process.stdout.readline()
        assert line, process.communicate()[1]
        said = json.loads(line)
        assert said["url"] == f"http://127.0.0.1:{said['port']}/"
        return process, Client(said["port"])

    yield call
    for process in processes:
        process.kill()
        process.communicate()


@pytest.mark.skipif(sys.platform == "win32", reason="needs signals")
def test_ctrl_c_lets_running_requests_end_and_the_exit_code_is_0(start):
    process, client = start("--quiet")
    text, found = "red wine " * 12_000, []
    thread = threading.Thread(target=lambda: found.append(client.post("/explain", {"example": text, "html": True})))
    thread.start()
    while client.get("/healthz").json()["requests"] == 0 and not found:
        time.sleep(0.005)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    thread.join(60)
    assert (process.returncode, out, err) == (0, "", "")
    assert (found[0].status, len(found[0].json()["parts"])) == (200, len(text))


@pytest.mark.skipif(sys.platform == "win32", reason="needs signals")
def test_a_server_for_other_machines_warns_and_logs_and_offers_samples(start):
    process, client = start("--log", "--examples", "new.csv", "--host", "0.0.0.0", "--allow-host", "models.example")
    hosts = ("models.example", socket.gethostname(), "evil.example")
    assert [client.get("/healthz", Host=host).status for host in hosts] == [200, 200, 421]
    assert client.post("/predict", {"example": "very red"}).json()["label"] == "red"
    shown = client.get("/").body.decode()
    process.terminate()
    _, err = process.communicate(timeout=60)
    assert process.returncode == 0
    assert "every machine that reaches this one can use the model" in " ".join(err.split())
    assert "POST /predict 200 " in err
    assert "very red" not in err
    assert "1 · red · a red &lt;b&gt;wine&lt;/b&gt;" in shown
    assert "<b>wine" not in shown


def test_a_port_in_use_is_named_with_what_to_do(folder, capsys):
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        assert main(["serve", str(folder / "wines.treille"), "--port", str(port)]) == 1
    said = " ".join(capsys.readouterr().err.split())
    assert f"port {port} of 127.0.0.1 is in use" in said
    assert "--port 0" in said


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--host", "no.such.host.invalid"], "there is no host 'no.such.host.invalid'"),
        (["--host", "192.0.2.1"], "192.0.2.1 is not an address of this machine"),
    ],
)
def test_an_address_that_cannot_be_bound_is_an_error(folder, capsys, options, said):
    assert main(["serve", str(folder / "wines.treille"), "--port", "0", *options]) == 1
    assert said in " ".join(capsys.readouterr().err.split())


@pytest.mark.parametrize(
    "options", [["--port", "70000"], ["--port", "-1"], ["--max-body", "0"], ["--queue", "-1"], ["--time-limit", "0"]]
)
def test_options_out_of_range_are_refused(folder, capsys, options):
    assert main(["serve", str(folder / "wines.treille"), *options]) == 2
    assert options[0] in capsys.readouterr().err


def test_a_file_that_is_no_model_is_an_error(folder, capsys):
    assert main(["serve", str(folder / "new.csv")]) == 1
    assert "new.csv" in capsys.readouterr().err


@pytest.mark.parametrize("missing", ["starlette", "uvicorn"])
def test_without_the_extra_the_error_says_what_to_install(folder, capsys, monkeypatch, missing):
    for name in [name for name in sys.modules if name.split(".")[0] == missing or name.startswith("treille.serve.")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, missing, None)
    assert main(["serve", str(folder / "wines.treille")]) == 1
    said = " ".join(capsys.readouterr().err.split())
    assert f"needs {missing}" in said
    assert "pip install 'treille[serve]'" in said


FILES = {
    "texts": "text,label\nred wine,red\nwhite wine,white\n",
    "dna": ">a\nACGT\n>b\nGGCC\n",
    "trees": "s\t(S (NP he))\nq\t(Q (WH who))\n",
    "graphs": '{"label": "amine", "nodes": ["C", "N"], "edges": [[0, 1]]}\n',
    "lattices": '{"arcs": [[0, "red", 0.5, 1]], "finals": {"1": 1.0}, "label": "red"}\n',
    "vectors": "1 1:1 3:2\n2 2:1 3:1\n",
    "columns": "title,year,label\nred wine,3,red\n",
    "tagger": "The DT B-NP\ndog NN I-NP\n\nA DT B-NP\n",
}
SUFFIXES = {
    "dna": "fa",
    "trees": "trees",
    "graphs": "graphs.jsonl",
    "lattices": "jsonl",
    "vectors": "svmlight",
    "tagger": "txt",
}


@pytest.mark.parametrize("name", FILES)
def test_files_of_every_kind_give_samples_that_the_server_reads(tmp_path, name):
    path = tmp_path / f"{name}.{SUFFIXES.get(name, 'csv')}"
    path.write_text(FILES[name])
    model = CASES[name]().model
    if name == "vectors":  # columns of such a file have names
        model = treille.SVC(treille.kernels.Linear()).fit([{"1": 1.0, "2": 2.0}, {"3": 1.0}], [1, 2])
    found = _samples(Printer(quiet=True), model, Reading(), str(path))
    assert found
    served = Served(model)
    for sample in found:
        answer = served.predict([json.dumps({"example": sample.value}).encode()])[0]
        assert isinstance(answer, bytes), (sample, answer)
    assert page(served, found)


def test_columns_of_trees_give_samples_too(tmp_path):
    path = tmp_path / "parsed.txt"
    path.write_text(
        "no |BT:parse| (S (NP he)) |ET| |BS:words| he |ES|\nyes |BT:parse| (Q (WH who)) |ET| |BS:words| who |ES|\n"
    )
    kernel = treille.kernels.Columns({"parse": treille.kernels.Subpath(), "words": treille.kernels.NGram(1)})
    examples = treille.io.read(path, columns=["parse", "words"])
    served = Served(treille.SVC(kernel).fit(examples.X, examples.labels))
    found = _samples(Printer(quiet=True), served.model, Reading(), str(path))
    assert [sample.value for sample in found][1] == {"parse": "(Q (WH who))", "words": "who"}
    answers = served.predict([json.dumps({"example": sample.value}).encode() for sample in found])
    assert [json.loads(answer)["label"] for answer in answers] == ["no", "yes"]
