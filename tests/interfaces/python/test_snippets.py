"""Every Python block of README.md and the guides runs, and its result is checked. (tests/docs runs the tutorials.)"""

import doctest
import json
import pathlib
import re

import numpy as np
import pytest
from conftest import norm, random

import tesela

ROOT = pathlib.Path(__file__).parents[3]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
BLOCKS = {
    f"{page.name} {number}": block
    for page in PAGES
    for number, block in enumerate(re.findall(r"```python\n(.*?)```", page.read_text(), re.DOTALL))
}


def positive_definite(n):
    f = random(1, n, n)
    return np.asfortranarray(f @ f.T + n * np.eye(n))


def readme():
    """Least squares."""
    a, b = random(2, 50, 4), random(3, 50)

    def check(names, printed):
        assert np.allclose(names["r"].x, np.linalg.lstsq(a, b, rcond=None)[0], atol=1e-12)

    return {"a": a, "b": b}, check


def kernels():
    """A Cholesky factorization with kernels in Python."""
    a = positive_definite(450)
    before = a.copy()

    def check(names, printed):
        lower = np.tril(a)
        assert norm(lower @ lower.T - before) <= 1e-12 * norm(before)
        assert names["g"].tasks == 5 + 10 + 20

    return {"a": a}, check


def trace():
    """Checks the sums of a trace's durations, in microseconds."""
    tasks = [("gemm", 3e6, "X"), ("gemm", 1e6, "X"), ("trsm", 5e6, "X"), ("potrf", 2e6, "X"), ("lacpy", 1e6, "X"), ("trsm", 9e6, "M")]
    pathlib.Path("trace").mkdir()
    events = [{"name": name, "dur": dur, "ph": kind} for name, dur, kind in tasks]
    pathlib.Path("trace/trace.json").write_text(json.dumps({"traceEvents": events}))

    def check(names, printed):
        assert printed == "[('trsm', 5.0), ('gemm', 4.0), ('potrf', 2.0)]\n"

    return {}, check


def prediction():
    """A graph with one task of 1 ms on a machine with a hand-made folder."""

    @tesela.kernel(flops=lambda a: 1)
    class mine:
        def cpu(a: tesela.InOut):
            a += 1

    here = pathlib.Path("here")
    here.mkdir()
    (here / "machine.json").write_text('{"name": "made", "cores": 16, "gpus": 0}')
    heading = "kernel,worker,shape,bytes,flops,seconds,deviation,samples"
    (here / "kernels.csv").write_text(f"{heading}\nuser_{mine.model},core,1,32,1,0.001,0,10\n")
    (here / "links.csv").write_text("from,to,bytes_per_second,seconds,column_seconds\n")

    def check(names, printed):
        assert names["p"].seconds == 0.001 and "predicted" in pathlib.Path("both.svg").read_text()

    return {"mine": mine, "A": tesela.TileMatrix(np.zeros((2, 2), order="F"), 2)}, check


# None: a doctest.
CASES = {"README.md 0": readme, "python.md 0": None, "debug-and-profile.md 0": trace, "write-your-own.md 0": kernels,
         "predict.md 0": prediction}


def test_every_block_has_a_check():
    assert BLOCKS.keys() == CASES.keys()
    assert all((">>>" in BLOCKS[name]) == (case is None) for name, case in CASES.items())


@pytest.mark.parametrize("name", BLOCKS)
def test_the_block_runs_and_is_right(name, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    names = {"tesela": tesela, "np": np}
    if CASES[name] is None:
        runner = doctest.DocTestRunner()
        found = runner.run(doctest.DocTestParser().get_doctest(BLOCKS[name], names, name, None, 0))
        assert found.failed == 0 < found.attempted
        return
    given, check = CASES[name]()
    names |= given
    exec(BLOCKS[name], names)
    check(names, capsys.readouterr().out)
