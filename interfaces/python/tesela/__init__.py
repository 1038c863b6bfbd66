"""Linear algebra as task graphs of tiled codelets, on every core and every GPU."""

import os as _os

_os.environ.setdefault("STARPU_SILENT", "1")  # StarPU's remarks on calibration appear only with STARPU_SILENT=0
from . import _names, _signatures
from ._tesela import *
from ._tesela import __version__
from ._banded import *
from ._factors import *
from ._kernels import *
from ._predict import *
from ._rank import *
from ._solvers import *
from ._svd import *
from ._trace import *

__all__ = [name for name in dir() if not name.startswith("_")]
from . import kernels  # after __all__: a module, not a function
_signatures.add_to(globals(), __name__)
for _name in _names.KEYWORDS:
    globals()[_name] = _names.with_keyword_hints(globals()[_name])
for _name in __all__:
    if _name.endswith("Result"):
        _names.add_attribute_hints(globals()[_name])
    if globals()[_name].__module__.startswith(__name__ + "._"):
        globals()[_name].__module__ = __name__  # where users find it, and pickle looks


def __getattr__(name: str) -> object:
    raise AttributeError(_names.message(__name__, name, __all__))
