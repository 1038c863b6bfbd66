"""Arrays on a GPU: what the module asks of the libraries that they belong to."""

import contextlib
import importlib

CUDA, CUDA_MANAGED = 2, 13  # of DLPack's device types
LIBRARIES = {"numpy": 0, "torch": 1, "jax": 2, "cupy": 3}  # as interfaces/python/arrays.hpp has them


def read(array, name):
    """The library, the CUDA device, the array and a DLPack capsule of it; None where it is on no GPU.

    What is under way on the library's current stream is waited for by CUDA's default stream, as the module waits for that.
    """
    library = type(array).__module__.partition(".")[0].replace("jaxlib", "jax")
    if library == "torch":
        if array.requires_grad:
            raise TypeError(f"{name} requires grad: give {name}.detach()")
        if array.is_neg():  # its numbers are not what its memory holds
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
    """The same memory, for libraries whose own arrays cannot be made here."""
    try:
        import cupy
    except ImportError:
        raise TypeError(f"{name} is on a GPU, and no array of CuPy, PyTorch or JAX: it needs CuPy") from None
    if not hasattr(array, "__cuda_array_interface__"):
        return cupy.from_dlpack(array)
    read_only = array.__cuda_array_interface__["data"][1]
    return cupy.array(array) if read_only else cupy.asarray(array)


def current(library, device):
    """Makes a device the library's current one: its streams are told apart by that."""
    if library == "torch":
        return importlib.import_module("torch").cuda.device(device)
    if library == "cupy":
        return importlib.import_module("cupy").cuda.Device(device)
    return contextlib.nullcontext()


def converted(array, dtype):
    """A copy with other numbers."""
    if hasattr(array, "astype"):
        return array.astype(dtype)
    return array.to(getattr(importlib.import_module("torch"), dtype))


def without_gaps(array):
    """A copy that lies by rows."""
    if hasattr(array, "contiguous"):
        return array.contiguous()
    return importlib.import_module("cupy").ascontiguousarray(array)


def adopt(memory, library):
    """The library's array of what gives DLPack capsules."""
    names = {"torch": "torch", "jax": "jax.dlpack", "cupy": "cupy"}
    module = next(names[name] for name, number in LIBRARIES.items() if number == library)
    return importlib.import_module(module).from_dlpack(memory)
