"""Arrays on a GPU: access through the libraries that own them."""

import contextlib
import importlib

CUDA, CUDA_MANAGED = 2, 13  # DLPack device types
LIBRARIES = {"numpy": 0, "torch": 1, "jax": 2, "cupy": 3}  # as in interfaces/python/arrays.hpp


def read(array, name):
    """Returns the library, the CUDA device, the array and its DLPack capsule; None if it is not on a GPU.

    CUDA's default stream, for which the module waits, waits for the work on the library's current stream.
    """
    library = type(array).__module__.partition(".")[0].replace("jaxlib", "jax")
    if library == "torch":
        if array.requires_grad:
            raise TypeError(f"{name} requires grad: give {name}.detach()")
        if array.is_neg():  # its memory holds the negated numbers
            raise TypeError(f"{name} is a negated view: give {name}.resolve_neg()")
    if not hasattr(array, "__dlpack_device__"):
        if not hasattr(array, "__cuda_array_interface__"):
            return None
        array, library = as_cupy(array, name), "cupy"
    kind, device = array.__dlpack_device__()
    if kind not in (CUDA, CUDA_MANAGED):
        return None
    if library not in LIBRARIES:
        array, library = as_cupy(array, name), "cupy"
    with current(library, device):
        return LIBRARIES[library], device, array, array.__dlpack__(stream=1)


def as_cupy(array, name):
    """Returns a CuPy array with the same memory, for other libraries."""
    try:
        import cupy
    except ImportError:
        raise TypeError(f"{name} is on a GPU and not of CuPy, PyTorch or JAX: install CuPy to use it") from None
    if not hasattr(array, "__cuda_array_interface__"):
        return cupy.from_dlpack(array)
    read_only = array.__cuda_array_interface__["data"][1]
    return cupy.array(array) if read_only else cupy.asarray(array)


def current(library, device):
    """Makes a device the library's current one, which its streams belong to."""
    if library == "torch":
        return importlib.import_module("torch").cuda.device(device)
    if library == "cupy":
        return importlib.import_module("cupy").cuda.Device(device)
    return contextlib.nullcontext()


def converted(array, dtype):
    """Returns a copy of this type."""
    if hasattr(array, "astype"):
        return array.astype(dtype)
    return array.to(getattr(importlib.import_module("torch"), dtype))


def without_gaps(array):
    """Returns a copy in C order."""
    if hasattr(array, "contiguous"):
        return array.contiguous()
    return importlib.import_module("cupy").ascontiguousarray(array)


def adopt(memory, library):
    """Returns the library's array for an object that provides DLPack capsules."""
    names = {"torch": "torch", "jax": "jax.dlpack", "cupy": "cupy"}
    module = next(names[name] for name, number in LIBRARIES.items() if number == library)
    return importlib.import_module(module).from_dlpack(memory)
