"""SciPy's and NumPy's own tests of the functions that tesela has, through peer_tests.py, each in its own process."""

import re
import subprocess
import sys

import pytest

LEAST = {"scipy": 1190, "numpy": 105}  # with some room for new releases of NumPy


@pytest.mark.parametrize("suite", LEAST)
def test_peers_own_tests(suite):
    pytest.importorskip(f"{suite}.linalg.tests")
    done = subprocess.run([sys.executable, __file__.replace("test_peers", "peer_tests"), suite], capture_output=True,
                          text=True, timeout=900)
    counts = re.search(r"(\d+) of (\d+) pass, .* (\d+) compare numbers", done.stdout)
    assert counts, done.stdout + done.stderr
    assert int(counts[1]) >= LEAST[suite], counts[0]
