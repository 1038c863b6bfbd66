#!/usr/bin/env python3
"""Writes the reference files for the tests of files with NumPy and SciPy: `python3 make_reference_files.py`.

Every value is a function of its position (i, j), counted from zero, which the tests compute as well.
"""
import gzip
import pathlib

import numpy as np
import scipy.io
import scipy.sparse

here = pathlib.Path(__file__).resolve().parent
general = np.array([[(i + 1) * 10 + (j + 1) + 0.125 for j in range(3)] for i in range(4)])
symmetric = np.array([[min(i, j) * 10 + max(i, j) + 0.125 for j in range(4)] for i in range(4)])
skew = np.array([[(i - j) * (i + j + 0.125) for j in range(4)] for i in range(4)])
sparse = np.where(np.add.outer(np.arange(4), np.arange(3)) % 2 == 0, general, 0)


def npy(name, array, version=(1, 0)):
    with open(here / "numpy" / f"{name}.npy", "wb") as file:
        np.lib.format.write_array(file, array, version=version)


def mtx(name, matrix, **options):
    scipy.io.mmwrite(here / "scipy" / f"{name}.mtx", matrix, **options)


(here / "numpy").mkdir(exist_ok=True)
(here / "scipy").mkdir(exist_ok=True)

for order in "CF":
    for kind in ("<f4", "<f8", ">f4", ">f8"):
        where = "big" if kind[0] == ">" else "little"
        npy(f"{order}_{where}_{kind[1:]}", np.array(general, dtype=kind, order=order))
npy("version_2", general, (2, 0))
npy("version_3", general, (3, 0))
npy("vector", general[:, 0].copy())
npy("scalar", np.array(11.125))
npy("empty", np.zeros((0, 3)))
npy("bool", general > 20)
npy("half", general.astype("<f2"))
for kind in ("i1", "u1", ">i2", "<u2", "<i4", ">u4", "<i8", ">u8"):
    npy({"i": "integer", "u": "unsigned"}[kind[-2]] + kind[-1], general.astype(kind))
np.savez(here / "numpy" / "two.npz", a=general, b=general.astype("<i4"))
np.savez_compressed(here / "numpy" / "one.npz", general)
npy("bad_complex", general.astype("<c16"))
npy("bad_structured", np.zeros(2, dtype=[("a", "<f8"), ("b", "<i4")]))
npy("bad_3d", np.zeros((2, 3, 4)))
npy("bad_nan", np.where(general == general[2, 1], np.nan, general))

mtx("array_general", general, comment="a comment\nand another")
mtx("array_symmetric", symmetric, symmetry="symmetric")
mtx("array_skew", skew, symmetry="skew-symmetric")
mtx("array_integer", general.astype(int))
mtx("array_unsigned", general.astype("u8"))
mtx("coordinate_general", scipy.sparse.coo_array(sparse))
mtx("coordinate_symmetric", scipy.sparse.coo_array(symmetric), symmetry="symmetric")
mtx("coordinate_skew", scipy.sparse.coo_array(skew), symmetry="skew-symmetric")
mtx("coordinate_integer", scipy.sparse.coo_array(sparse.astype(int)))
mtx("coordinate_pattern", scipy.sparse.coo_array(sparse), field="pattern")
for name in ("array_general", "coordinate_general"):  # two parts, as two runs of gzip append them
    text = (here / "scipy" / f"{name}.mtx").read_bytes()
    packed = gzip.compress(text[:100], mtime=0) + gzip.compress(text[100:], mtime=0)
    (here / "scipy" / f"{name}.mtx.gz").write_bytes(packed)
np.savetxt(here / "numpy" / "table.txt", general, header="a comment")
np.savetxt(here / "numpy" / "commas.txt", general, delimiter=", ", fmt="%.3f", footer="the end")
mtx("bad_complex", general.astype(complex))
mtx("bad_hermitian", scipy.sparse.coo_array(symmetric.astype(complex)), symmetry="hermitian")
