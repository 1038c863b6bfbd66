import doctest
import inspect
import pathlib
import pickle
import re

import pytest

import tesela


@pytest.mark.parametrize("name", tesela.__all__)
def test_every_name_is_documented_and_its_examples_run(name):
    text = getattr(tesela, name).__doc__
    assert text
    runner = doctest.DocTestRunner()
    runner.run(doctest.DocTestParser().get_doctest(text, {}, name, None, 0))
    assert runner.summarize().failed == 0


FUNCTIONS = [f for f in (getattr(tesela, name) for name in tesela.__all__) if not isinstance(f, type)]


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda f: f.__name__)
def test_every_function_has_a_signature(function):
    signature = inspect.signature(function)
    assert function.__module__ == "tesela" and pickle.loads(pickle.dumps(function)) is function
    with pytest.raises(TypeError, match="unexpected keyword argument"):
        function(*(p.name for p in signature.parameters.values() if p.kind is not p.KEYWORD_ONLY), nonsense=1)


def test_signatures_have_defaults():
    assert str(inspect.signature(tesela.solve)).startswith("(a: 'ArrayLike', b: 'ArrayLike', lower: 'bool' = False, overw")
    assert list(inspect.signature(tesela.Graph).parameters) == ["record", "longest_path_priorities", "name"]
    assert list(inspect.signature(tesela.TileMatrix).parameters) == ["a", "tile"]


def test_stubs_have_typed_arrays():
    stub = (pathlib.Path(tesela.__file__).parent / "_tesela.pyi").read_text(encoding="utf-8")
    arrays = re.compile(r"\b(a|b|c|d|e|h|y|w|dl|du|c_or_cr|covariance|shifts|restrictions): (\S+?)(?:,| =|\))")
    found = [kind for line in stub.splitlines() if line.lstrip().startswith("def ") for _, kind in arrays.findall(line)]
    assert len(found) > 40 and set(found) <= {"numpy.typing.ArrayLike", "Tile", "str"}, set(found)


@pytest.mark.parametrize(
    "name, hint",
    [
        ("ols", "lstsq solves least squares"),
        ("IV2SLS", "sem estimates"),
        ("solve_toeplits", "did you mean 'solve_toeplitz'?"),
        ("xyz", "has no attribute 'xyz'$"),
    ],
)
def test_missing_names_get_a_hint(name, hint):
    with pytest.raises(AttributeError, match=hint):
        getattr(tesela, name)
    assert not hasattr(tesela, name)
