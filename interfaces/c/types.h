/// What a call returns but 0, -i for its i-th argument, and a positive info of its own.
enum {
  TESELA_ARGUMENT = -1001,     ///< arguments that do not fit each other; tesela_error() names them
  TESELA_FILE = -1002,         ///< a file cannot be read or written
  TESELA_ENVIRONMENT = -1003,  ///< no worker, no memory, a failed device: what the machine lacks
  TESELA_CANCELLED = -1004,    ///< tesela_cancel, or a signal handler that called it
  TESELA_LIFETIME = -1005,     ///< out of order: after a fork, before an asynchronous call has run, …
  TESELA_INTERNAL = -1006      ///< our own bug: please report it with tesela_error()
};

/// Of least squares in all its forms: what a result's `status` says, and info where there is no solution.
enum {
  TESELA_OK = 0,              ///< full rank
  TESELA_RANK_DEFICIENT = 1,  ///< the solution of least norm: no failure, info is 0
  TESELA_NOT_FINITE = 2,      ///< NaN or an infinity in the data, or an overflow
  TESELA_INACCURATE = 3,      ///< a measured error is above its bound
  TESELA_INCONSISTENT = 4     ///< the constraints, or the model, have no solution
};

/// For a number of workers in tesela_options: none. (0 is the default.)
enum { TESELA_NONE = -1 };

/// What lives between calls. The values are numbers, never addresses: one that was freed is known as such.
typedef struct tesela_matrix tesela_matrix;  ///< an m x n matrix in tiles
typedef struct tesela_graph tesela_graph;    ///< tasks under way
typedef struct tesela_qr tesela_qr;          ///< the Q of a QR factorization

/// How the workers start. Members that are 0 or NULL leave the choice to StarPU's variables and to the machine.
typedef struct tesela_options {
  size_t size;              ///< sizeof(tesela_options)
  int64_t cpus;             ///< workers on cores
  int64_t gpus;             ///< CUDA devices; TESELA_ENVIRONMENT where there are fewer
  int64_t streams_per_gpu;  ///< tasks that a GPU runs at a time
  int64_t gpu_megabytes;    ///< of each GPU's memory that tiles may take (MiB)
  const char* scheduler;    ///< StarPU's policy
} tesela_options;

/// This thread's message: why its last call did not return 0; empty if it did. Valid until its next call.
const char* tesela_error(void);

/// The version of the library, "0.1.0".
const char* tesela_version(void);

/// Makes tasks that have not started do nothing: calls under way return TESELA_CANCELLED soon. For signal handlers too.
void tesela_cancel(void);
