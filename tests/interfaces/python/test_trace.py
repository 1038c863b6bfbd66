"""tesela.trace: figures, notebook, page."""

import json
import re
import threading

import numpy as np
import pytest
from conftest import check, numbers, random

import tesela
from tesela import InOut


@tesela.kernel(flops=lambda a: 100, color="#112233")
class grow:
    def cpu(a: InOut, by=1):
        a += by


def cholesky(n, tile, **options):
    f = random(1, n, n)
    A = tesela.TileMatrix(np.asfortranarray(f @ f.T + n * np.eye(n)), tile)
    with tesela.Graph(**options) as g:
        for k in range(A.tiles[0]):
            g.potrf(A[k, k])
            for j in range(k + 1, A.tiles[0]):
                g.trsm(A[k, k], A[k, j], trans=True)
            for i in range(k + 1, A.tiles[0]):
                for j in range(i, A.tiles[0]):
                    g.gemm(A[k, i], A[k, j], A[i, j], alpha=-1, trans_a=True)
    return g


@pytest.fixture(scope="module")
def recorded():
    with tesela.trace("a <b> & c") as t:
        cholesky(300, 50)
    return t


def data_of(path):
    page = path.read_text(encoding="utf-8")
    return page, json.loads(re.search(r'id="data">(.*?)</script>', page, re.DOTALL)[1])


def test_figures(recorded):
    t = recorded
    assert {k["kernel"]: k["tasks"] for k in t.kernels} == {"potrf": 6, "trsm": 15, "gemm": 35}
    assert sum(k["share"] for k in t.kernels) == pytest.approx(1)
    tasks = t.tasks
    assert all(len(column) == 56 for column in tasks.values()) and t.incomplete == 0
    length = tasks["end"] - tasks["start"]
    assert (length > 0).all() and (np.diff(tasks["start"]) >= 0).all() and (tasks["inserted"] <= tasks["start"]).all()
    assert tasks["start"][0] == 0 and tasks["end"].max() == t.seconds
    for k in t.kernels:
        mine = tasks["kernel"] == k["kernel"]
        assert k["median"] == pytest.approx(np.median(length[mine])) and k["seconds"] == pytest.approx(length[mine].sum())
        assert k["gflops"] == pytest.approx(tasks["gflop"][mine].sum() / length[mine].sum())
    for w in t.workers:
        assert sum(w[part] for part in ["busy", *t.idle]) == pytest.approx(t.seconds)
    assert t.idle["end"] == pytest.approx(sum(w["end"] for w in t.workers))
    path = t.critical_path
    assert length[path].sum() == pytest.approx(t.bounds["critical_path"]) and (np.diff(tasks["start"][path]) > 0).all()
    assert len(path) >= 6 and t.bounds["critical_path"] <= t.seconds
    assert t.bounds["lower_bound"] == max(t.bounds["path"], t.bounds["area"]) > 0
    assert {m["kernel"] for m in t.models} == {"potrf", "trsm", "gemm"}
    assert all(m["least"] <= m["median"] <= m["most"] for m in t.models)


def test_the_notebook_shows_schedule_and_tables(recorded):
    shown = recorded._repr_html_()
    assert shown.startswith("<svg") and "critical path" in shown and shown.count("<table>") >= 3
    assert "gemm" in repr(recorded) and "56 tasks in" in repr(recorded) and max(map(len, repr(recorded).splitlines())) < 100


def test_the_page_has_the_same_numbers(recorded, tmp_path):
    recorded.save(tmp_path / "run.html")
    page, data = data_of(tmp_path / "run.html")
    assert "<title>a &lt;b> &amp; c</title>" in page and data["title"] == "a <b> & c"
    summary = data["summary"]
    assert summary["seconds"] == pytest.approx(recorded.seconds) and data["tasks"]["count"] == 56
    assert [k["tasks"] for k in summary["kernels"]] == [k["tasks"] for k in recorded.kernels]
    assert summary["lower_bound"] == pytest.approx(recorded.bounds["lower_bound"])
    assert data["report"]["machine"]["scheduler"] == recorded.machine["scheduler"]


def test_python_kernels_are_recorded_with_their_colours(tmp_path):
    x = numbers(0, 0, 0)
    with tesela.trace() as t, tesela.Graph() as g:
        for i in range(3):
            for _ in range(2):
                g.insert(grow, x[i, 0], priority=2)
    assert t.incomplete == 0 and [k["kernel"] for k in t.kernels] == ["grow"]
    assert len(t.tasks["kernel"]) == 6 and t.kernels[0]["gflops"] > 0
    t.save(tmp_path / "run.html")
    assert data_of(tmp_path / "run.html")[1]["kernels"] == [{"name": "grow", "color": "#112233"}]


def test_an_empty_block(tmp_path):
    with tesela.trace() as t:
        pass
    assert t.seconds == 0 and t.kernels == [] and "0 tasks" in repr(t) and "0 tasks" in t._repr_html_()
    t.save(tmp_path / "run.html")
    with pytest.raises(ValueError, match="no picture"):
        tesela.compare_traces({"empty": t})


def test_unfinished_tasks_are_counted():
    gate = threading.Event()

    @tesela.kernel
    class waits:
        def cpu(a: InOut):
            gate.wait(20)

    x = numbers(0)
    g = tesela.Graph()
    with tesela.trace() as t:
        g.insert(waits, x[0, 0])
    gate.set()
    g.wait()
    assert t.incomplete == 1 and "1 more tasks did not run" in repr(t)


def test_wrong_order(recorded):
    t = tesela.trace()
    with pytest.raises(AttributeError, match="before its block ends"):
        t.kernels
    with pytest.raises(RuntimeError, match="before its block ends"):
        t.save("x.html")
    assert "before the end" in repr(t) and "before the end" in t._repr_html_()
    with t:
        with pytest.raises(RuntimeError, match="another one records"), tesela.trace():
            pass
    with pytest.raises(RuntimeError, match="make another one"):
        t.__enter__()
    with pytest.raises(AttributeError, match="no attribute 'nonsense'"):
        recorded.nonsense
    with pytest.raises(RuntimeError, match="before its block ends"):
        tesela.compare_traces({"new": tesela.trace()})
    assert "kernels" in dir(recorded) and hasattr(recorded, "bounds") and not hasattr(recorded, "__array__")


def test_an_exception_in_the_block_leaves_it():
    x = numbers(0)
    with pytest.raises(ZeroDivisionError), tesela.trace() as t:
        with tesela.Graph() as g:
            g.insert(grow, x[0, 0])
        1 / 0
    assert [k["tasks"] for k in t.kernels] == [1]


def test_compared_traces(recorded, tmp_path):
    picture = tesela.compare_traces({"one": recorded, "two & more": recorded})
    svg = picture._repr_svg_()
    assert svg.startswith("<svg") and "one: 56 tasks" in svg and "two &amp; more: 56 tasks" in svg
    numbered = tesela.compare_traces(recorded, recorded)._repr_svg_()
    assert "1: 56 tasks" in numbered and "2: 56 tasks" in numbered
    picture.save(tmp_path / "x.svg")
    assert (tmp_path / "x.svg").read_text(encoding="utf-8") == svg


def test_workers_that_stop_in_the_block_end_the_trace():
    check(
        """
        import numpy as np, tesela
        try:
            with tesela.trace() as t:
                tesela.solve(np.eye(200), np.ones(200))
                tesela.stop()
        except RuntimeError as error:
            print("destroyed" in str(error))
        with tesela.trace() as t, tesela.Graph() as g:
            g.potrf(tesela.TileMatrix(np.eye(2, order="F"), 2)[0, 0])
        print(len(t.tasks["start"]))
        """,
        "True\n1\n",
    )
