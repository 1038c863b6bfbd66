"""Linear algebra as task graphs of tiled codelets, on every core and every GPU."""

from ._tesela import *
from ._tesela import __version__

__all__ = [name for name in dir() if not name.startswith("_")]
