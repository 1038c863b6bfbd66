"""The kernels of the library, for `Graph.insert`. `help(tesela.kernels.geqrt)` shows the tiles and arguments of one.

Tiles are passed in order, arguments by name. A kernel checks neither the shapes of its tiles nor its
arguments, which its comment states: wrong ones may end the process, as in C++.
The names of matrices in a comment are those of the tiles, in capitals. A loop needs no C++:

>>> import numpy as np, tesela
>>> a = tesela.TileMatrix(np.asfortranarray([[4.0, 2.0], [2.0, 5.0]]), 2)
>>> minor = tesela.TileMatrix(np.zeros((1, 1), order="F"), 1)
>>> with tesela.Graph() as g:
...     g.insert(tesela.kernels.potrf, a[0, 0], minor[0, 0])
>>> a.to_numpy()
array([[2., 1.],
       [0., 2.]])
"""

import textwrap

from . import _tesela

__all__ = _tesela._library_kernels()


class LibraryKernel(_tesela.LibraryKernel):
    """A kernel of the library, with its documentation."""

    @property
    def __doc__(self):
        return documentation(self)

    def __repr__(self):
        return f"tesela.kernels.{self.name}"

    def __reduce__(self):
        return LibraryKernel, (self.name,)


def shown(default):
    """Returns the text of a default value; a list is zero, and an argument without a default needs a value."""
    return "…" if default is ... else "0" if default == () else repr(default)


def signature(kernel):
    """Returns the call that inserts a task, with the defaults of the arguments, which are '…' for records."""
    words = ["kernels." + kernel.name, *(name for name, *_ in kernel.tiles)]
    if kernel.tiles[-1][1].startswith("*"):
        words[-1] = "*" + words[-1]
    defaults = {name.partition(".")[0]: "…" if "." in name else shown(default) for name, _, default, _ in kernel.arguments}
    return f"insert({', '.join(words + [f'{name}={default}' for name, default in defaults.items()])})"


def documentation(kernel):
    """Returns signature, comment, tiles and arguments of a kernel."""
    lines = [signature(kernel), "", kernel.comment, "", f"Runs on {kernel.workers}. Declared in {kernel.header}."]
    lines += ["", "Tiles", "-----"]
    lines += [f"{name} : {mode}, {' or '.join(dict.fromkeys(types))}" for name, mode, types in kernel.tiles]
    if kernel.arguments:
        lines += ["", "Arguments", "---------"]
    for name, kind, default, comment in kernel.arguments:
        lines.append(f"{name} : {kind}" + ("" if default is ... else f" = {shown(default)}"))
        lines += textwrap.wrap(comment, 110, initial_indent="    ", subsequent_indent="    ")
    if any("." in name for name, *_ in kernel.arguments):
        lines += ["", "Fields of a record, such as a.b, are passed in a dict: a={'b': …}."]
    return "\n".join(lines)


def unreachable():
    """Returns the kernels that only C++ can insert, with the reasons."""
    return dict(_tesela._unreachable_kernels())


def __getattr__(name: str) -> LibraryKernel:
    """Raises AttributeError with the reason; type checkers read from it that each name is a kernel."""
    reason = unreachable().get(name)
    raise AttributeError(f"tesela.kernels has no kernel {name}" + (f": only C++ can insert it ({reason})" if reason else ""))


globals().update((name, LibraryKernel(name)) for name in __all__)
