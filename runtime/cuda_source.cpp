#include <tesela/runtime/codelet.hpp>
#include <tesela/runtime/config.hpp>
#include <tesela/runtime/cuda_source.hpp>
#include <tesela/runtime/errors.hpp>

#if TESELA_HAVE_CUDA
#include <cuda.h>
#include <cuda_runtime_api.h>

#include <dlfcn.h>
#include <map>
#include <mutex>
#include <nvrtc.h>
#endif

#include <utility>

namespace tesela {

#if TESELA_HAVE_CUDA
namespace {

/// The name of a function, for error messages, and its address.
template <class F>
struct Function {
  const char* name;
  F* call = nullptr;
};

/// Libraries of CUDA that only a CudaSource needs.
struct Libraries {
  Function<decltype(nvrtcCreateProgram)> create{"nvrtcCreateProgram"};
  Function<decltype(nvrtcCompileProgram)> compile{"nvrtcCompileProgram"};
  Function<decltype(nvrtcDestroyProgram)> destroy{"nvrtcDestroyProgram"};
  Function<decltype(nvrtcAddNameExpression)> add_name{"nvrtcAddNameExpression"};
  Function<decltype(nvrtcGetLoweredName)> lowered_name{"nvrtcGetLoweredName"};
  Function<decltype(nvrtcGetProgramLogSize)> log_size{"nvrtcGetProgramLogSize"};
  Function<decltype(nvrtcGetProgramLog)> log{"nvrtcGetProgramLog"};
  Function<decltype(nvrtcGetCUBINSize)> cubin_size{"nvrtcGetCUBINSize"};
  Function<decltype(nvrtcGetCUBIN)> cubin{"nvrtcGetCUBIN"};
  Function<decltype(cuCtxGetCurrent)> current{"cuCtxGetCurrent"};
  Function<decltype(cuCtxGetId)> context_id{"cuCtxGetId"};
  Function<decltype(cuModuleLoadData)> load{"cuModuleLoadData"};
  Function<decltype(cuModuleGetFunction)> function{"cuModuleGetFunction"};
  Function<decltype(cuFuncSetAttribute)> set_attribute{"cuFuncSetAttribute"};
  Function<decltype(cuLaunchKernel)> launch{"cuLaunchKernel"};

  Libraries() {
    const std::string major = std::to_string(CUDART_VERSION / 1000);
    void* const nvrtc = open({"libnvrtc.so." + major, "libnvrtc.so"}, "install CUDA's NVRTC");
    find(nvrtc, create, compile, destroy, add_name, lowered_name, log_size, log, cubin_size, cubin);
    void* const driver = open({"libcuda.so.1"}, "install NVIDIA's driver");
    find(driver, current, context_id, load, function, set_attribute, launch);
  }

 private:
  static void* open(const std::vector<std::string>& names, const char* remedy) {
    for (const std::string& name : names)
      if (void* const library = dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL)) return library;
    throw EnvironmentError("a CUDA source needs " + names.front() + ", which cannot be loaded: " + remedy);
  }
  template <class... F>
  static void find(void* library, Function<F>&... functions) {
    const auto one = [&]<class G>(Function<G>& f) {
      f.call = reinterpret_cast<G*>(dlsym(library, f.name));
      if (f.call == nullptr) throw EnvironmentError(std::string("a CUDA source needs a newer CUDA, with ") + f.name);
    };
    (one(functions), ...);
  }
};

const Libraries& libraries() {
  static const Libraries all;
  return all;
}

constexpr auto prelude = R"(namespace tesela {
template <class T> struct Tile {
  T* data;
  long long rows, cols, ld;
  __device__ T& operator()(long long i, long long j) const { return data[i + j * ld]; }
};
}
using tesela::Tile;
#line 1
)";

struct Compiled {
  std::string cubin, function;  // its name in the cubin
};

Compiled compile(const std::string& source, const std::string& name, const std::vector<std::string>& options) {
  const Libraries& lib = libraries();
  int device = 0, major = 0, minor = 0;
  cudaGetDevice(&device);
  cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device);
  cudaDeviceGetAttribute(&minor, cudaDevAttrComputeCapabilityMinor, device);
  std::vector<std::string> all{"--gpu-architecture=sm_" + std::to_string(10 * major + minor), "--std=c++17"};
  all.insert(all.end(), options.begin(), options.end());
  std::vector<const char*> pointers;
  pointers.reserve(all.size());
  for (const std::string& option : all) pointers.push_back(option.c_str());
  nvrtcProgram program = nullptr;
  if (lib.create.call(&program, (prelude + source).c_str(), name.c_str(), 0, nullptr, nullptr) != NVRTC_SUCCESS)
    throw EnvironmentError("NVRTC cannot start");
  const auto destroy = [&](nvrtcProgram* p) { lib.destroy.call(p); };
  const std::unique_ptr<nvrtcProgram, decltype(destroy)> owner(&program, destroy);
  std::size_t size = 0;
  Compiled compiled;
  if (lib.add_name.call(program, name.c_str()) != NVRTC_SUCCESS ||
      lib.compile.call(program, static_cast<int>(pointers.size()), pointers.data()) != NVRTC_SUCCESS) {
    lib.log_size.call(program, &size);
    std::string log(size, '\0');
    lib.log.call(program, log.data());
    if (size > 0) log.pop_back();  // the zero at its end
    throw EnvironmentError("NVRTC refuses the source of " + name + ":\n" + log);
  }
  const char* lowered = nullptr;
  if (lib.lowered_name.call(program, name.c_str(), &lowered) != NVRTC_SUCCESS ||
      lib.cubin_size.call(program, &size) != NVRTC_SUCCESS)
    throw EnvironmentError("NVRTC finds no function " + name + " in its source");
  compiled.function = lowered;
  compiled.cubin.resize(size);
  lib.cubin.call(program, compiled.cubin.data());
  return compiled;
}

}  // namespace

struct CudaSource::State {
  std::string source, name;
  std::vector<std::string> options;
  std::mutex mutex;
  std::map<unsigned long long, CUfunction> functions;  // by context, which a new Runtime may have

  CUfunction function() {
    const Libraries& lib = libraries();
    CUcontext context = nullptr;
    unsigned long long id = 0;
    if (lib.current.call(&context) != CUDA_SUCCESS || lib.context_id.call(context, &id) != CUDA_SUCCESS)
      throw EnvironmentError("a CUDA source needs a GPU");
    const std::lock_guard lock(mutex);
    CUfunction& function = functions[id];
    if (function != nullptr) return function;
    detail::forget_timing();  // of the compiler
    const Compiled compiled = compile(source, name, options);
    CUmodule module = nullptr;  // ends with the context
    if (lib.load.call(&module, compiled.cubin.c_str()) != CUDA_SUCCESS ||
        lib.function.call(&function, module, compiled.function.c_str()) != CUDA_SUCCESS)
      throw EnvironmentError("the GPU cannot load " + name);
    return function;
  }
};

CudaSource::CudaSource(std::string source, std::string name, std::vector<std::string> options)
    : state_(new State{std::move(source), std::move(name), std::move(options), {}, {}}) {}

void CudaSource::launch(const CudaContext& context, const Size& size, std::span<void* const> parameters) const {
  const Libraries& lib = libraries();
  const CUfunction function = state_->function();
  constexpr unsigned usual_shared = 48u << 10;
  if (size.shared > usual_shared)
    lib.set_attribute.call(function, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, static_cast<int>(size.shared));
  const auto [gx, gy, gz] = size.grid;
  const auto [bx, by, bz] = size.block;
  if (gx == 0 || gy == 0 || gz == 0) return;
  context.check(lib.launch.call(function, gx, gy, gz, bx, by, bz, size.shared, context.stream(),
                                const_cast<void**>(parameters.data()), nullptr),
                state_->name.c_str());
}
#else
struct CudaSource::State {};

CudaSource::CudaSource(std::string, std::string, std::vector<std::string>) {}

void CudaSource::launch(const CudaContext&, const Size&, std::span<void* const>) const {
  throw EnvironmentError("this Tesela was built without CUDA");
}
#endif

}  // namespace tesela
