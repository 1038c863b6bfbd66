"""Properties of all result objects."""

import copy
import pickle

import numpy as np
import pytest

import tesela

a = np.array([[4.0, 1.0], [1.0, 3.0], [0.0, 1.0]])
b = np.array([1.0, 2.0, 3.0])
h = np.eye(2, dtype=complex)
data = {"y": np.arange(8.0), "x": np.array([1.0, 0, 2, 5, 3, 3, 6, 4]), "z": np.arange(8.0) ** 2}
results = {
    "lstsq": lambda: tesela.lstsq(a, b),
    "wls": lambda: tesela.wls(a, b, np.array([1.0, 2.0, 3.0])),
    "glm": lambda: tesela.glm(a, np.eye(3), b),
    "lse": lambda: tesela.lse(a, b, np.array([[1.0, 1.0]]), np.array([1.0])),
    "qr": lambda: tesela.qr(a),
    "r": lambda: tesela.qr(a, mode="r"),
    "eigh": lambda: tesela.eigh(a[:2]),
    "solve_toeplitz": lambda: tesela.solve_toeplitz(np.array([4.0, 1.0]), np.array([1.0, 2.0])),
    "sem": lambda: tesela.sem("y ~ x | z", data),
    "mimo_detect": lambda: tesela.mimo_detect(h, h[:, 0], "qpsk"),
    "mimo_soft": lambda: tesela.mimo_soft(h, h[:, 0], "qpsk", 0.1),
}


def members(result):
    return [name for name in dir(result) if not name.startswith("_") and not callable(getattr(result, name))]


def same(one, other):
    if type(one) is not type(other):
        return False
    if isinstance(one, dict):
        return one.keys() == other.keys() and all(same(one[key], other[key]) for key in one)
    if type(one).__module__.startswith("tesela"):
        return all(same(getattr(one, name), getattr(other, name)) for name in members(one))
    if isinstance(one, np.ndarray):
        return one.dtype == other.dtype and np.array_equal(one, other, equal_nan=one.dtype.kind == "f")
    return one == other or (one != one and other != other)


@pytest.mark.parametrize("name", results)
def test_results_are_pickled_and_copied(name):
    result = results[name]()
    assert members(result)
    for again in (pickle.loads(pickle.dumps(result)), copy.copy(result), copy.deepcopy(result)):
        assert same(result, again) and repr(again) == repr(result) or type(again).__repr__ is object.__repr__


def test_invalid_states_are_refused():
    result = results["lstsq"]()
    with pytest.raises((KeyError, TypeError)):
        type(result).__new__(type(result)).__setstate__({"x": 1})
    wrong = result.__getstate__() | {"rank": "two"}
    with pytest.raises(TypeError, match="rank"):
        type(result).__new__(type(result)).__setstate__(wrong)


@pytest.mark.parametrize("name", results)
def test_results_print_their_contents(name):
    result = results[name]()
    text = repr(result)
    assert text.startswith(type(result).__name__ + "(") and " object at 0x" not in text
    shown = [member for member in members(result) if member + "=" in text]
    assert shown and all(repr(getattr(result, member)) in text for member in shown)


def test_matrices_and_graphs_print_their_contents():
    matrix = tesela.TileMatrix(np.zeros((5, 4), order="F"), 2)
    assert repr(matrix) == "TileMatrix(shape=(5, 4), tiles=(3, 2), dtype=dtype('float64'))"
    assert repr(matrix[0, 0]) == "Tile(shape=(2, 2))"
    assert repr(tesela.Graph()) == "Graph(tasks=0)" and repr(tesela.Graph().bounds()).startswith("Bounds(tasks=0, ")
