import doctest

import pytest

import tesela


@pytest.mark.parametrize("name", tesela.__all__)
def test_every_name_is_documented_and_its_examples_run(name):
    text = getattr(tesela, name).__doc__
    assert text
    runner = doctest.DocTestRunner()
    runner.run(doctest.DocTestParser().get_doctest(text, {}, name, None, 0))
    assert runner.summarize().failed == 0
