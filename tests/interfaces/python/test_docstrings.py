import doctest
import pathlib
import re

import numpy as np
import pytest
from conftest import random

import tesela


@pytest.mark.parametrize("name", tesela.__all__)
def test_every_name_is_documented_and_its_examples_run(name):
    text = getattr(tesela, name).__doc__
    assert text
    runner = doctest.DocTestRunner()
    runner.run(doctest.DocTestParser().get_doctest(text, {}, name, None, 0))
    assert runner.summarize().failed == 0


GUIDE = pathlib.Path(__file__).parents[3] / "docs" / "python.md"
BLOCKS = re.findall(r"```python\n(.*?)```", GUIDE.read_text(), re.DOTALL)


@pytest.mark.parametrize("block", BLOCKS)
def test_the_guide_runs(block, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    f = random(1, 600, 600)
    names = {"tesela": tesela, "np": np, "a": np.asfortranarray(f @ f.T + 600 * np.eye(600))}
    if ">>>" in block:
        runner = doctest.DocTestRunner()
        runner.run(doctest.DocTestParser().get_doctest(block, names, "docs/python.md", None, 0))
        assert runner.summarize().failed == 0
    else:
        exec(block, names)
    assert len(BLOCKS) == 2
