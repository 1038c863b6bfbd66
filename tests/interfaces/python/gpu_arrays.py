"""Libraries with arrays on a GPU, and copies of numbers to and from it."""

import os

import numpy as np
import pytest

import tesela

os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")
LIBRARIES = ["cupy", "torch", "jax"]


def require_gpu(name):
    library = pytest.importorskip(name)
    if name == "cupy":
        try:
            there = library.cuda.runtime.getDeviceCount() > 0
        except library.cuda.runtime.CUDARuntimeError:
            there = False
    elif name == "torch":
        there = library.cuda.is_available()
    else:
        library.config.update("jax_enable_x64", True)
        there = any(device.platform == "gpu" for device in library.devices())
    if not there:
        pytest.skip("no GPU")
    if not any("CUDA" in worker for worker in tesela.workers()):
        pytest.skip("the workers use no GPU")
    return library


class Gpu:
    """Copies numbers to and from the GPU with one library."""

    def __init__(self, name):
        self.name, self.library = name, require_gpu(name)

    def put(self, a, order="F"):
        a = np.array(a, order=order)
        if self.name == "cupy":
            return self.library.asarray(a, order=order)
        if self.name == "torch":
            return self.library.from_numpy(a).cuda()
        return self.library.device_put(a)

    def get(self, x):
        """Returns a NumPy copy of an array, which must belong to this library and its GPU."""
        assert self.owns(x), type(x)
        if self.name == "cupy":
            return self.library.asnumpy(x)
        return np.asarray(x.cpu() if self.name == "torch" else x)

    def owns(self, x):
        if self.name == "cupy":
            return isinstance(x, self.library.ndarray)
        if self.name == "torch":
            return isinstance(x, self.library.Tensor) and x.is_cuda
        return isinstance(x, self.library.Array) and x.devices().pop().platform == "gpu"
