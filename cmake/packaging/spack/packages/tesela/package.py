# A Spack recipe. It has been parsed, but never run. In a clone of Tesela:
#
#   spack repo add cmake/packaging/spack
#   spack dev-build tesela@0.1.0
from spack.package import *


class Tesela(CMakePackage, CudaPackage):
    """Linear algebra as task graphs of tiled codelets, on every core and every GPU."""

    license("BSD-3-Clause")

    version("0.1.0")

    variant("fxt", default=True, description="Record traces (FxT is under the GPL)")
    variant("mpi", default=True, description="Let several processes share a graph")

    depends_on("cxx", type="build")
    depends_on("c", type="build")
    depends_on("cmake@3.25:", type="build")
    depends_on("ninja", type="build")
    depends_on("pkgconfig", type="build")
    depends_on("starpu@1.4")
    for choice in ("fxt", "mpi", "cuda"):
        depends_on(f"starpu+{choice}", when=f"+{choice}")
        depends_on(f"starpu~{choice}", when=f"~{choice}")
    depends_on("hwloc@2:")
    depends_on("openblas@0.3.26: threads=pthreads")
    depends_on("highway@1:")
    depends_on("boost@1.74:", type="build")
    depends_on("cli11@2:", type="build")
    depends_on("nlohmann-json@3.11:", type="build")
    depends_on("fmt@9:")
    depends_on("libcsv")
    depends_on("zlib-api")
    depends_on("mpi", when="+mpi")

    # Headers of its FFT, in the version of scripts/setup.
    resource(name="ducc", git="https://gitlab.mpcdf.mpg.de/mtr/ducc.git", tag="ducc0_0_42_0", destination="",
             placement="ducc")

    generator("ninja")

    def cmake_args(self):
        args = [
            self.define_from_variant("TESELA_CUDA", "cuda"),
            self.define_from_variant("TESELA_REQUIRE_CUDA", "cuda"),
            self.define("TESELA_TESTS", self.run_tests),
            self.define("TESELA_PYTHON", False),
            self.define("TESELA_DUCC_INCLUDE", join_path(self.stage.source_path, "ducc", "src")),
        ]
        if self.spec.satisfies("+cuda"):
            args.append(self.define("CMAKE_CUDA_ARCHITECTURES", self.spec.variants["cuda_arch"].value))
        return args
