"""tesela.predict: recorded graphs on machines of hand-made folders."""

import json

import numpy as np
import pytest

import tesela
from tesela import In, InOut


@tesela.kernel(flops=lambda a: 100)
class swell:
    def cpu(a: InOut, by=1):
        a += by


@tesela.kernel(flops=lambda a, b: 200)
class join:
    def cpu(a: In, b: InOut):
        b += a


@pytest.fixture
def machine(tmp_path):
    """A folder: 4 cores and 2 GPUs; swell takes 1 ms on a core and 0.1 ms on a GPU, join 2 ms on a core."""
    about = {"name": "invented", "cores": 4, "gpus": 2, "gpu_bytes": 1e9}
    (tmp_path / "machine.json").write_text(json.dumps(about))
    (tmp_path / "kernels.csv").write_text(
        "kernel,worker,shape,bytes,flops,seconds,deviation,samples\n"
        f"user_{swell.model},core,1,32,100,0.001,0,10\nuser_{swell.model},gpu,1,32,100,0.0001,0,10\n"
        f"user_{join.model},core,1,64,200,0.002,0,10\n"
    )
    memories = ["RAM", "GPU0", "GPU1"]
    links = [f"{a},{b},1e6,1e-5,0" for a in memories for b in memories if a != b]
    (tmp_path / "links.csv").write_text("from,to,bytes_per_second,seconds,column_seconds\n" + "\n".join(links) + "\n")
    return tmp_path


def swell_and_join(**options):
    a = np.zeros((2, 8), order="F")
    A = tesela.TileMatrix(a, (2, 2))
    with tesela.Graph(**options) as g:
        for j in range(4):
            g.insert(swell, A[0, j])
        for j in range(3):
            g.insert(join, A[0, j], A[0, 3])
    assert A.to_numpy()[0, 6] == 4
    return g


def test_a_graph_of_own_kernels_is_predicted(machine):
    with tesela.trace() as t:
        g = swell_and_join(record=True)
    one, four = tesela.predict(g, machine, gpus=0, cores=1), tesela.predict(g, machine, gpus=0)
    assert one.seconds == pytest.approx(0.010) and four.seconds == pytest.approx(0.007)
    assert four.bounds["path"] == pytest.approx(0.007) and four.bounds["lower_bound"] <= four.seconds
    assert four.interpolated_share == 1 and four.interpolated_kernels == [f"user_{k.model}" for k in (join, swell)]
    assert len(four.tasks["start"]) == 7 and set(four.tasks["kernel"]) == {"swell", "join"}
    assert four.machine["host"] == "invented" and four.machine["cores"] == 4
    two = tesela.predict(g, str(machine))  # GPUs need copies of 32 bytes, and join runs on the one free core
    assert two.machine["gpus"] == 2 and two.machine["cores"] == 1 and 0.006 < two.seconds < 0.007
    assert sum(m["transfers"] for m in two.bytes_moved) > 0
    text = tesela.compare_traces({"measured": t, "predicted": four})._repr_svg_()
    assert "measured" in text and "predicted" in text and text.count("CPU 3") >= 1
    assert "predicted for invented, 100.0 % interpolated" in repr(four) and "<svg" in four._repr_html_()
    four.save(machine / "run.html")
    assert "predicted for invented" in (machine / "run.html").read_text(encoding="utf-8")


def test_predictions_that_cannot_be_made(machine, tmp_path):
    g = swell_and_join(record=True)
    with pytest.raises(ValueError, match="not recorded"):
        tesela.predict(swell_and_join(), machine)
    with pytest.raises(FileNotFoundError, match="tesela predict record --out"):
        tesela.predict(g, tmp_path / "nowhere")
    with pytest.raises(ValueError, match="gpus is 3, and .* has 2: record a machine"):
        tesela.predict(g, machine, gpus=3)
    with pytest.raises(ValueError, match="run no task"):
        tesela.predict(g, machine, gpus=0, cores=0)
    with pytest.raises(OSError, match="no times of kernel 'join' on a GPU.*--program -- PROGRAM"):
        tesela.predict(g, machine, gpus=1, cores=0)
    with pytest.raises(TypeError, match="must be a tesela.Graph"):
        tesela.predict(np.zeros(2), machine)
    (machine / "links.csv").write_text("from\n")
    with pytest.raises(OSError, match="links.csv"):
        tesela.predict(g, machine)
