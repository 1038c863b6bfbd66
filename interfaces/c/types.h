/// Return values other than 0, -i for the i-th argument, and a function's positive info.
enum {
  TESELA_ARGUMENT = -1001,     ///< arguments that do not fit together; tesela_error() names them
  TESELA_FILE = -1002,         ///< a file cannot be read or written
  TESELA_ENVIRONMENT = -1003,  ///< no worker, no memory or a failed device
  TESELA_CANCELLED = -1004,    ///< tesela_cancel was called
  TESELA_LIFETIME = -1005,     ///< wrong order: after a fork, before an asynchronous call has run, …
  TESELA_INTERNAL = -1006      ///< a bug in Tesela: please report it with tesela_error()
};

/// Values of a least-squares result's `status`, and of info if there is no solution.
enum {
  TESELA_OK = 0,              ///< full rank
  TESELA_RANK_DEFICIENT = 1,  ///< the solution of least norm; not a failure: info is 0
  TESELA_NOT_FINITE = 2,      ///< NaN or infinity in the data, or an overflow
  TESELA_INACCURATE = 3,      ///< a measured error is above its bound
  TESELA_INCONSISTENT = 4     ///< the constraints, or the model, have no solution
};

/// No workers, in tesela_options. (0 is the default.)
enum { TESELA_NONE = -1 };

/// Objects that live between calls. Handles are numbers, never addresses, so a freed handle is recognized.
typedef struct tesela_matrix tesela_matrix;  ///< an m x n matrix in tiles
typedef struct tesela_graph tesela_graph;    ///< running tasks
typedef struct tesela_qr tesela_qr;          ///< the Q of a QR factorization

/// Complex numbers of the functions c and z; C and C++ keep them in the same bytes.
#ifdef __cplusplus
typedef std::complex<float> tesela_complex_float;    ///< two floats
typedef std::complex<double> tesela_complex_double;  ///< two doubles
#else
typedef float _Complex tesela_complex_float;    ///< two floats
typedef double _Complex tesela_complex_double;  ///< two doubles
#endif

/// Options of the workers. Members that are 0 or NULL leave the choice to StarPU's variables and the machine.
typedef struct tesela_options {
  size_t size;              ///< sizeof(tesela_options)
  int64_t cpus;             ///< workers on cores
  int64_t gpus;             ///< CUDA devices; TESELA_ENVIRONMENT if fewer are visible
  int64_t streams_per_gpu;  ///< tasks that one GPU runs at a time
  int64_t gpu_megabytes;    ///< MiB of each GPU's memory for tiles
  const char* scheduler;    ///< StarPU policy
} tesela_options;

/// Returns this thread's message for its last call, empty if that returned 0. Valid until the thread's next call.
const char* tesela_error(void);

/// Returns the version of the library, such as "0.1.0".
const char* tesela_version(void);

/// Makes tasks that have not started do nothing: running calls soon return TESELA_CANCELLED. Async-signal-safe.
void tesela_cancel(void);
