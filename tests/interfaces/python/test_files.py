"""Matrices in files, and failed allocations."""

import os

import numpy as np
import pytest
from conftest import check, laid_out, random

import tesela


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("layout", ["F", "C", "padded", "reversed", "every second", "read-only"])
@pytest.mark.parametrize("suffix", [".npy", ".mtx", ".csv", ".txt"])
def test_written_matrices_read_back(tmp_path, dtype, layout, suffix):
    a = random(1, 7, 5, dtype=dtype)
    path = tmp_path / ("a" + suffix)
    tesela.write_matrix(path, laid_out(a, layout))
    b = tesela.read_matrix(str(path), dtype=dtype)
    assert b.dtype == dtype and (b == a).all() and b.flags.f_contiguous
    if suffix == ".npy":
        assert tesela.read_matrix(path).dtype == dtype and (np.load(path) == a).all()
    else:
        assert tesela.read_matrix(path).dtype == np.float64


def test_vectors_and_empty_matrices(tmp_path):
    tesela.write_matrix(tmp_path / "v.npy", np.arange(3.0))
    assert np.load(tmp_path / "v.npy").shape == tesela.read_matrix(tmp_path / "v.npy").shape == (3,)
    for suffix in (".csv", ".txt"):
        tesela.write_matrix(tmp_path / ("v" + suffix), np.arange(3.0))
        assert (tesela.read_matrix(tmp_path / ("v" + suffix)) == np.arange(3.0)).all()
    tesela.write_matrix(tmp_path / "column.npy", np.zeros((3, 1)))
    assert tesela.read_matrix(tmp_path / "column.npy").shape == (3, 1)
    tesela.write_matrix(tmp_path / "a.csv", np.array([[1, 2.5], [-3, 4e-300]]))
    assert (tmp_path / "a.csv").read_text() == "1,2.5\n-3,4e-300\n"
    tesela.write_matrix(tmp_path / "e.npy", np.zeros((0, 4)))
    assert tesela.read_matrix(tmp_path / "e.npy").shape == (0, 4)
    np.save(tmp_path / "c.npy", np.arange(6.0).reshape(2, 3))
    assert (tesela.read_matrix(tmp_path / "c.npy") == np.arange(6.0).reshape(2, 3)).all()


def test_coordinates(tmp_path):
    (tmp_path / "s.mtx").write_text("%%MatrixMarket matrix coordinate real symmetric\n2 2 2\n1 1 4\n2 1 -1\n")
    assert (tesela.read_matrix(tmp_path / "s.mtx") == [[4, -1], [-1, 0]]).all()


def test_errors(tmp_path):
    with pytest.raises(OSError, match="none.npy"):
        tesela.read_matrix(tmp_path / "none.npy")
    (tmp_path / "bad.mtx").write_text("%%MatrixMarket matrix array real general\n2 1\n1\nx\n")
    with pytest.raises(OSError, match="bad.mtx.*4"):
        tesela.read_matrix(tmp_path / "bad.mtx")
    with pytest.raises(OSError):
        tesela.write_matrix(tmp_path / "no" / "such" / "folder.npy", np.eye(2))
    with pytest.raises(OSError):
        tesela.write_matrix(tmp_path / "a.png", np.eye(2))
    with pytest.raises(ValueError):
        tesela.write_matrix(tmp_path / "nan.npy", np.full((2, 2), np.nan))
    assert not (tmp_path / "nan.npy").exists()
    with pytest.raises(TypeError):
        tesela.read_matrix(tmp_path / "none.npy", dtype="int32")
    with pytest.raises(TypeError):
        tesela.write_matrix(tmp_path / "z.npy", np.eye(2, dtype=complex))


@pytest.mark.skipif("libasan" in os.environ.get("LD_PRELOAD", ""), reason="a sanitizer takes all addresses")
def test_no_memory_is_a_memory_error():
    check(
        """
        import resource, numpy as np, tesela
        tesela.start(cpus=1, gpus=0)
        a = np.ones((60000, 1))
        tesela.qr(a, mode="r")
        pages = int(open("/proc/self/statm").read().split()[0])
        resource.setrlimit(resource.RLIMIT_AS, (pages * 4096 + 2**32,) * 2)
        try: tesela.qr(a)  # q would be 60000 x 60000
        except MemoryError as e: print("60000" in str(e))
        print(tesela.qr(a, mode="r").r.shape)
        """,
        "True\n(60000, 1)\n",
    )


@pytest.mark.parametrize(
    "error, call",
    [
        (FileNotFoundError, lambda folder: tesela.read_matrix(folder / "none.mtx")),
        (FileNotFoundError, lambda folder: tesela.read_matrix(str(folder / "none.npy"), dtype=np.float32)),
        (IsADirectoryError, lambda folder: tesela.read_matrix(folder)),
        (NotADirectoryError, lambda folder: tesela.read_matrix(folder / "file" / "a.mtx")),
        (FileNotFoundError, lambda folder: tesela.write_matrix(folder / "none" / "a.npy", np.eye(2))),
        (IsADirectoryError, lambda folder: tesela.write_matrix(folder / "a.npy", np.eye(2))),
    ],
)
def test_system_errors_have_errno_and_the_name(tmp_path, error, call):
    (tmp_path / "file").write_text("")
    (tmp_path / "a.npy").mkdir()
    with pytest.raises(error) as caught:
        call(tmp_path)
    assert caught.value.errno > 0 and caught.value.filename.startswith(str(tmp_path))


def test_a_malformed_file_is_an_oserror_that_names_it(tmp_path):
    (tmp_path / "a.mtx").write_text("%%MatrixMarket matrix array real general\n2 1\n1\n")
    with pytest.raises(OSError, match="a.mtx") as caught:
        tesela.read_matrix(tmp_path / "a.mtx")
    assert type(caught.value) is OSError
