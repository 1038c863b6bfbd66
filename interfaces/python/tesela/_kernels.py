"""Kernels in Python: the decorator `kernel`, and the access modes of tiles."""

import ctypes
import hashlib
import inspect
import types
import typing
import zlib

import numpy as np

from . import _tesela

__all__ = ["kernel", "cuda_source", "In", "Out", "InOut", "Commute", "Reduce", "Scratch"]


class In:
    """Annotation of a kernel's parameter: a tile that is read. Its array is read-only."""


class Out:
    """Annotation of a kernel's parameter: a tile that is written as a whole, and not read before."""


class InOut:
    """Annotation of a kernel's parameter: a tile that is read and written."""


class Commute:
    """Annotation of a kernel's parameter: a tile that is read and written, in any order with other such tasks."""


class Reduce:
    """Annotation of a kernel's parameter: a sum; each worker adds to its own copy (`Graph.reduction`)."""


class Scratch:
    """Annotation of a kernel's parameter: work space without contents at the start and the end (`Graph.scratch`)."""


ELEMENTS = ["float32", "float64"]  # in the order of C++'s enum class Element
MODES = [In, Out, InOut, Commute, Reduce, Scratch]  # in the order of C++'s enum class Mode
COLORS = [0x4C72B0, 0xDD8452, 0x55A868, 0xC44E52, 0x8172B3, 0x937860, 0xDA8BC3, 0x8C8C8C, 0xCCB974, 0x64B5CD]
NONE = inspect.Parameter.empty


class Signature:
    """Tiles and arguments of a variant: names, modes and defaults."""

    def __init__(self, tiles, modes, has_list, arguments):
        self.tiles, self.modes, self.has_list, self.arguments = tiles, modes, has_list, arguments

    def __eq__(self, other):
        return vars(self) == vars(other)


def kernel(cls=None, *, flops=None, color=None, cost_key=(), name=None):
    """Make a kernel, whose tasks `Graph.insert` inserts, of a class with the variants `cpu` and `cuda`.

    Parameters
    ----------
    flops : function or float, optional
        Operations of a task. The function's parameters are names of tiles, which have `rows` and `cols`, and of
        arguments.
    color : str or int, optional
        Colour '#rrggbb' of its tasks in pictures and traces.
    cost_key : tuple of str
        Arguments that change the run time: predictions differ for each of their values.
    name : str, optional
        Name in pictures, traces and statistics; by default the name of the class.

    Examples
    --------
    >>> import numpy as np, tesela
    >>> @tesela.kernel(flops=lambda a: a.rows * a.cols)
    ... class scale:
    ...     def cpu(a: tesela.InOut, factor=2):
    ...         a *= factor
    >>> a = tesela.TileMatrix(np.ones((2, 2), order="F"), 1)
    >>> with tesela.Graph() as g:
    ...     g.insert(scale, a[0, 0])
    ...     g.insert(scale, a[1, 1], factor=5)
    >>> a.to_numpy()
    array([[2., 1.],
           [1., 5.]])
    """
    if cls is None:
        return lambda cls: kernel(cls, flops=flops, color=color, cost_key=cost_key, name=name)
    if not isinstance(cls, type):
        raise TypeError("tesela.kernel decorates a class with a function `cpu` or `cuda`")
    name = cls.__name__ if name is None else name
    if not isinstance(name, str) or not name.replace("-", "_").isidentifier():
        raise ValueError(f"kernel {name!r}: a name has letters, digits, _ and -, as it becomes part of a file's name")
    variants = {k: plain(name, k, vars(cls)[k]) for k in ("cpu", "cuda") if k in vars(cls)}
    if not variants:
        raise TypeError(f"kernel {name}: a kernel has a variant `cpu` or `cuda`")
    signature = common_signature(name, cls, variants)
    names = [argument for argument, _ in signature.arguments]
    for key in (cost_key := (cost_key,) if isinstance(cost_key, str) else tuple(cost_key)):
        if key not in names:
            raise TypeError(f"kernel {name}: cost_key names {key!r}, which is not an argument")
    cpu, cuda = variants.get("cpu"), variants.get("cuda")
    source = cuda if isinstance(cuda, CudaSource) else None
    return _tesela.Kernel(
        {
            "name": name,
            "model": f"{name}_{code_hash(variants)}",
            "color": color_of(color, name),
            "modes": [MODES.index(mode) for mode in signature.modes],
            "has_list": signature.has_list,
            "names": tuple(names),
            "defaults": tuple(... if default is NONE else default for _, default in signature.arguments),
            "cpu": cpu,
            "compiled": address_of(cpu) or 0,
            "element": ELEMENTS.index(element_of(name, cls)),
            "cuda": cuda_caller(name, cuda, names) if cuda and not source else None,
            "source": source and source.description(lambda grid: formula(name, "grid", grid, signature, names)),
            "variants": variants,
            "flops": formula(name, "flops", flops, signature, names),
            "cost_key": [names.index(key) for key in cost_key],
        }
    )


def element_of(name, cls):
    """Returns the element type of the tiles that compiled code reads: the class's dtype, float64 by default."""
    element = str(np.dtype(vars(cls).get("dtype", "float64")))
    if element not in ELEMENTS:
        raise TypeError(f"kernel {name}: dtype is {element}, not float32 or float64")
    return element


def plain(name, which, variant):
    """Returns the variant without staticmethod; raises TypeError if nothing can call it."""
    if isinstance(variant, staticmethod):
        variant = variant.__func__
    if isinstance(variant, CudaSource) and which == "cuda":
        return variant
    if not callable(variant) and (which == "cuda" or address_of(variant) is None):
        raise TypeError(f"kernel {name}: {which} is neither a function nor compiled code")
    return variant


def address_of(variant):
    """Returns the address of compiled code, from numba.cfunc, ctypes, cffi or a capsule; None for Python's functions."""
    if hasattr(variant, "address"):
        return int(variant.address)
    if isinstance(variant, ctypes._CFuncPtr):
        return ctypes.cast(variant, ctypes.c_void_p).value
    kind = type(variant).__name__
    if kind == "PyCapsule":
        api = ctypes.pythonapi
        api.PyCapsule_GetName.restype, api.PyCapsule_GetName.argtypes = ctypes.c_char_p, [ctypes.py_object]
        api.PyCapsule_GetPointer.restype = ctypes.c_void_p
        api.PyCapsule_GetPointer.argtypes = [ctypes.py_object, ctypes.c_char_p]
        return api.PyCapsule_GetPointer(variant, api.PyCapsule_GetName(variant))
    if type(variant).__module__ == "_cffi_backend":
        import cffi

        return int(cffi.FFI().cast("uintptr_t", variant))
    return None


def common_signature(name, cls, variants):
    """Returns the signature of the variants, which must agree. The class's annotations describe compiled variants."""
    found = {}
    if any(annotation in MODES or list_mode(annotation) for annotation in annotations_of(name, cls).values()):
        found["the class"] = class_signature(name, cls)
    for which, variant in variants.items():
        if address_of(variant) is None and not isinstance(variant, CudaSource):
            found[which] = function_signature(name, which, variant)
    if not found:
        raise TypeError(
            f"kernel {name}: a compiled variant has no annotations: annotate the class, as in `a: tesela.InOut` above `cpu`"
        )
    (first, signature), *others = found.items()
    for which, other in others:
        if other != signature:
            raise TypeError(
                f"kernel {name}: {first} and {which} differ in tiles, modes or arguments: "
                f"{described(signature)} and {described(other)}"
            )
    return signature


def described(signature):
    tiles = [f"{tile}: {mode.__name__}" for tile, mode in zip(signature.tiles, signature.modes)]
    return "(" + ", ".join(tiles + [argument for argument, _ in signature.arguments]) + ")"


def annotations_of(name, thing):
    try:
        return inspect.get_annotations(thing, eval_str=True)
    except NameError as error:
        raise TypeError(f"kernel {name}: an annotation cannot be evaluated: {error}") from None


def list_mode(annotation):
    """Returns the mode of a list of tiles, tuple[In, ...], or None."""
    if typing.get_origin(annotation) is tuple and len(of := typing.get_args(annotation)) == 2 and of[1] is ...:
        return of[0] if of[0] in MODES else None
    return None


def class_signature(name, cls):
    tiles, modes, arguments, has_list = [], [], [], False
    for key, annotation in annotations_of(name, cls).items():
        if (mode := list_mode(annotation) or annotation) in MODES:
            if arguments or has_list:
                raise TypeError(f"kernel {name}: tiles come before other arguments, and a list of tiles comes last")
            has_list = list_mode(annotation) is not None
            tiles.append(key)
            modes.append(mode)
        else:
            arguments.append((key, vars(cls).get(key, NONE)))
    return Signature(tiles, modes, has_list, arguments)


def function_signature(name, which, function):
    here = f"kernel {name}: {which}"
    annotations = annotations_of(name, function) if hasattr(function, "__annotations__") else {}
    try:
        parameters = list(inspect.signature(function).parameters.values())
    except ValueError:
        raise TypeError(f"{here}: {function!r} has no signature") from None
    if which == "cuda":
        if not parameters or annotations.get(parameters[0].name) in MODES:
            raise TypeError(f"{here} needs a first parameter, the stream for its work")
        parameters = parameters[1:]
    tiles, modes, arguments, has_list = [], [], [], False
    for p in parameters:
        mode = annotations.get(p.name)
        if mode in MODES:
            if p.kind == p.VAR_KEYWORD or p.kind == p.KEYWORD_ONLY or p.default is not NONE:
                raise TypeError(f"{here}: the tile {p.name} is a parameter without a default, called by position")
            if arguments:
                raise TypeError(
                    f"{here}: {arguments[0][0]} has no mode such as tesela.In and is before the tile {p.name}; other "
                    "arguments come after the tiles, and a variant has no `self`"
                )
            has_list = p.kind == p.VAR_POSITIONAL
            tiles.append(p.name)
            modes.append(mode)
        elif p.kind in (p.VAR_POSITIONAL, p.VAR_KEYWORD, p.POSITIONAL_ONLY):
            raise TypeError(f"{here}: {p} is neither a tile, as in `{p}: tesela.In`, nor an argument with a name")
        else:
            arguments.append((p.name, p.default))
    if not tiles:
        lambdas = "; a lambda cannot have annotations, so use def" if function.__name__ == "<lambda>" else ""
        raise TypeError(f"{here} has no tile: annotate parameters with tesela.In, Out, InOut, … as in `a: tesela.InOut`{lambdas}")
    return Signature(tiles, modes, has_list, arguments)


def formula(name, what, function, signature, names):
    """Returns a function of a task and the places of its parameters: tile k is k, argument k is ~k."""
    if not callable(function):
        if function is not None and not isinstance(function, (int, float, tuple)):
            raise TypeError(f"kernel {name}: {what} is a constant or a function")
        return function, []
    places = []
    for p in inspect.signature(function).parameters:
        if p not in signature.tiles and p not in names:
            raise TypeError(f"kernel {name}: {what} has a parameter {p}, and no tile or argument has this name")
        places.append(signature.tiles.index(p) if p in signature.tiles else ~names.index(p))
    return function, places


def color_of(color, name):
    if color is None:
        return COLORS[zlib.crc32(name.encode()) % len(COLORS)]
    try:
        number = int(color.removeprefix("#"), 16) if isinstance(color, str) else int(color)
    except ValueError:
        number = -1
    if not 0 <= number <= 0xFFFFFF:
        raise ValueError(f"kernel {name}: color must be '#rrggbb', or a number of this size")
    return number


def code_hash(variants):
    """Returns a hash of the variants' code: measured times of other code say nothing about it."""
    digest = hashlib.sha256()
    for which, variant in variants.items():
        digest.update(which.encode() + source_of(variant))
    return digest.hexdigest()[:8]


def source_of(variant):
    if isinstance(variant, CudaSource):
        return f"{variant.source}{variant.name}{variant.options}".encode()
    function = inspect.unwrap(getattr(variant, "_pyfunc", variant), stop=lambda f: hasattr(f, "__code__"))
    try:
        return inspect.getsource(function).encode()
    except (OSError, TypeError):
        return code_bytes(getattr(function, "__code__", None))


def code_bytes(code):
    if code is None:
        return b""
    constants = [code_bytes(c) if isinstance(c, types.CodeType) else repr(c).encode() for c in code.co_consts]
    return code.co_code + b"".join(constants) + repr(code.co_names).encode()


class CudaSource:
    """CUDA source code, from `cuda_source`."""

    def __init__(self, source, name, grid, block, shared, options):
        self.source, self.name, self.grid, self.block, self.shared = source, name, grid, block, shared
        self.options = options

    def description(self, grid):
        return vars(self) | {"grid": grid(self.grid)}


def cuda_source(source, name, *, grid=None, block=(16, 16), shared=0, options=()):
    """Describe a variant `cuda` by CUDA source, which NVRTC compiles at the first launch.

    Parameters
    ----------
    source : str
        The `__global__` function has a parameter `Tile<T>` (`data`, `rows`, `cols`, `ld`, and `a(i, j)`) for each tile,
        then a `double` for each argument.
    name : str
        The function. `name<T>` is the instance of a template for the type of the first tile.
    grid : int, tuple or function, optional
        Number of blocks; a function has the parameters of the kernel's `flops`. By default the threads cover the first
        tile.
    block : int or tuple
        Threads of a block.
    shared : int
        Dynamic shared memory in bytes.
    options : sequence of str
        Options of NVRTC.

    Examples
    --------
    >>> import tesela
    >>> code = '''template <class T> __global__ void scale(Tile<T> a, double factor) {
    ...   int i = blockIdx.x * blockDim.x + threadIdx.x, j = blockIdx.y * blockDim.y + threadIdx.y;
    ...   if (i < a.rows && j < a.cols) a(i, j) *= factor;
    ... }'''
    >>> @tesela.kernel
    ... class scale:
    ...     a: tesela.InOut
    ...     factor: float = 2
    ...     cuda = tesela.cuda_source(code, "scale<T>")
    """
    if not isinstance(source, str) or not isinstance(name, str):
        raise TypeError("cuda_source needs CUDA source code and the name of a function in it")
    block = (block,) if isinstance(block, int) else tuple(block)
    if not 1 <= len(block) <= 3 or min(block) < 1:
        raise ValueError("block must be one to three positive numbers")
    return CudaSource(source, name, grid, block + (1,) * (3 - len(block)), shared, list(options))


class Stream(int):
    """A CUDA stream's address, as `numba.cuda.external_stream` and `cupy.cuda.ExternalStream` accept it."""

    def __cuda_stream__(self):
        return (0, int(self))


class DeviceArray:
    """A tile in the memory of a GPU, for libraries that accept `__cuda_array_interface__`."""

    __slots__ = ("__cuda_array_interface__", "shape", "dtype", "ld", "ptr")

    def __init__(self, ptr, rows, cols, ld, dtype, read_only):
        self.shape, self.dtype, self.ld, self.ptr = (rows, cols), dtype, ld, ptr
        self.__cuda_array_interface__ = {
            "shape": self.shape,
            "typestr": dtype.str,
            "data": (ptr, read_only),
            "strides": (dtype.itemsize, ld * dtype.itemsize),
            "version": 3,
            "stream": None,  # the task's work is on one stream
        }


def cuda_caller(name, function, names):
    """Returns a function that calls the variant with CuPy's arrays, or DeviceArray if CuPy is not installed."""
    cupy = []

    def call(stream, blocks, values):
        if not cupy:
            cupy.append(import_cupy())
        arrays = [DeviceArray(*block) for block in blocks]
        arguments = dict(zip(names, values or ()))
        if cupy[0] is None:
            result = function(Stream(stream), *arrays, **arguments)
        else:
            with cupy_stream(cupy[0], stream):
                result = function(Stream(stream), *[cupy[0].asarray(array) for array in arrays], **arguments)
        if result is not None:
            raise TypeError(f"the kernel {name} returns {result!r}: it must write to its arrays, and return None")

    return call


def cupy_stream(cupy, stream):
    """Returns CuPy's object of a stream; CuPy 14 deprecates ExternalStream."""
    from_external = getattr(cupy.cuda.Stream, "from_external", None)
    return from_external(Stream(stream)) if from_external else cupy.cuda.ExternalStream(stream)


def import_cupy():
    try:
        import cupy
    except ImportError:
        return None
    return cupy
