"""Workers in a process: start, stop, threads, Ctrl-C, forks and exit. Each case runs in a separate process."""

import os
import subprocess
import sys
import textwrap
import time

import pytest
from conftest import check, run

LARGE = """
import numpy as np, os, signal, sys, threading, time, tesela
a = np.asfortranarray(np.random.default_rng(0).standard_normal((3000, 3000)))
"""

PRESS = """
pressed = []
def press():
    time.sleep(0.3)
    pressed.append(time.monotonic())
    os.kill(os.getpid(), signal.SIGINT)
threading.Thread(target=press).start()
"""


def test_import_starts_no_worker():
    check(
        """
        import tesela, threading, os
        before = len(os.listdir("/proc/self/task"))
        print(len(os.listdir("/proc/self/task")) == before == 1)
        print(len(tesela.workers()) > 0 and len(os.listdir("/proc/self/task")) > 1)
        """,
        "True\nTrue\n",
        environment={"OPENBLAS_NUM_THREADS": "1"},
    )


def test_options_are_set_before_the_first_call():
    check(
        """
        import tesela
        tesela.start(cpus=1, gpus=0, scheduler="eager")
        print(len(tesela.workers()))
        try: tesela.start()
        except RuntimeError as e: print("run already" in str(e))
        tesela.stop()
        tesela.stop()
        print(len(tesela.workers()) >= 1)
        """,
        "1\nTrue\nTrue\n",
    )


def test_a_failed_start_reports_the_reason():
    check(
        """
        import tesela
        try: tesela.start(scheduler="none of them")
        except ValueError as e: print("none of them" in str(e))
        try: tesela.start(cpus=10**6)
        except ValueError as e: print("1000000 workers on" in str(e))
        try: tesela.start(cpus=0, gpus=0)
        except OSError as e: print("STARPU_NCPU" in str(e))
        print(len(tesela.workers()) > 0)
        """,
        "True\nTrue\nTrue\nTrue\n",
    )


def test_threads_call_at_once_without_blocking_python():
    check(
        """
        import numpy as np, tesela, threading
        a = np.random.default_rng(0).standard_normal((600, 300))
        b = a @ np.ones(300)
        wrong = []
        def work():
            for _ in range(5):
                if not np.allclose(tesela.lstsq(a, b).x, 1): wrong.append(1)
        threads = [threading.Thread(target=work) for _ in range(4)]
        for t in threads: t.start()
        for t in threads: t.join()
        print(wrong)
        """,
        "[]\n",
    )


def test_other_threads_run_while_tasks_do():
    check(
        LARGE
        + """
tesela.workers()
ticks, ended = 0, False
def count():
    global ticks
    while not ended:
        ticks += 1
        time.sleep(0.005)
t = threading.Thread(target=count)
t.start()
tesela.qr(a, mode="r", overwrite_a=True)
ended = True
t.join()
print(ticks > 20)
""",
        "True\n",
    )


def test_lapack_in_one_thread_stops_no_other():
    check(
        """
        import numpy as np, tesela, threading, time
        g = np.random.default_rng(0)
        s = g.standard_normal((1100, 1100))
        s = np.asfortranarray(s + s.T)
        a, b = 2 * np.eye(50), np.ones(50)
        tesela.solve(a, b), tesela.eigh(s[:500, :500])
        took = []
        def work():
            begin = time.perf_counter()
            for _ in range(2): tesela.eigh(s)
            took.append(time.perf_counter() - begin)
        t = threading.Thread(target=work)
        t.start()
        worst, calls = 0, 0
        while not took:
            begin = time.perf_counter()
            assert (tesela.solve(a, b) == 0.5).all()
            worst, calls = max(worst, time.perf_counter() - begin), calls + 1
        t.join()
        print(worst < took[0] / 4 or (worst, took), calls > 8)
        """,
        "True True\n",
    )


def test_ctrl_c_is_keyboard_interrupt_soon():
    status, out, errors = run(
        LARGE
        + """
tesela.workers()
"""
        + PRESS
        + """
try:
    for _ in range(20): tesela.qr(a)
    print("not interrupted")
except KeyboardInterrupt:
    print(time.monotonic() - pressed[0])
print(np.allclose(tesela.matmul(np.eye(300), np.eye(300)), np.eye(300)))
"""
    )
    assert status == 0, errors
    seconds, right = out.split()
    assert float(seconds) < 2 and right == "True"  # tens of milliseconds, more on a loaded machine


def test_ctrl_c_ends_a_wait_and_the_graph_remains_usable():
    status, out, errors = run(
        LARGE
        + """
A, C = (tesela.TileMatrix(np.asfortranarray(np.eye(800) * 4), tile=400) for _ in range(2))
g = tesela.Graph()
for _ in range(5000): g.gemm(A[0, 1], A[1, 0], C[0, 0])
g.potrf(A[0, 0])
"""
        + PRESS
        + """
try: g.wait()
except KeyboardInterrupt: print(time.monotonic() - pressed[0])
g.wait()
try: C.bring_home()
except ValueError as e: print("dropped" in str(e))
B = tesela.TileMatrix(np.asfortranarray(np.eye(200) * 4), tile=200)
g.potrf(B[0, 0])
g.wait()
B.bring_home()
print(B.to_numpy()[3, 3])
"""
    )
    assert status == 0, errors
    seconds, refused, root = out.split()
    assert float(seconds) < 2 and refused == "True" and float(root) == 2


def test_ctrl_c_in_the_block_of_a_graph_ends_its_tasks():
    status, out, errors = run(
        LARGE
        + """
A, C = (tesela.TileMatrix(np.asfortranarray(np.eye(800) * 4), tile=400) for _ in range(2))
"""
        + PRESS
        + """
try:
    with tesela.Graph() as g:
        for _ in range(5000): g.gemm(A[0, 1], A[1, 0], C[0, 0])
        time.sleep(30)
except KeyboardInterrupt: print(time.monotonic() - pressed[0])
with tesela.Graph() as g: g.potrf(A[0, 0])
A.bring_home()
print(A.to_numpy()[3, 3])
"""
    )
    assert status == 0, errors
    seconds, root = out.split()
    assert float(seconds) < 2 and float(root) == 2


def test_a_user_handler_of_ctrl_c_cancels_nothing():
    check(
        LARGE
        + """
seen = []
signal.signal(signal.SIGINT, lambda *_: seen.append(1))
tesela.workers()
threading.Timer(0.1, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
r = tesela.qr(a[:, :1000], mode="r").r
time.sleep(0.3)
print(r.shape, seen)
""",
        "(3000, 1000) [1]\n",
    )


def test_a_call_after_fork_is_an_error():
    check(
        """
        import os, sys, tesela, warnings
        warnings.simplefilter("ignore")
        tesela.workers()
        child = os.fork()
        if child == 0:
            try: tesela.qr([[1.0]])
            except RuntimeError as e: os._exit(7 if "forked" in str(e) else 1)
            os._exit(2)
        print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
        print(len(tesela.workers()) > 0)
        """,
        "7\nTrue\n",
    )


@pytest.mark.parametrize("method, expected", [("spawn", "[1.0]"), ("fork", "RuntimeError")])
def test_multiprocessing(method, expected, tmp_path):
    program = tmp_path / "program.py"
    program.write_text(
        textwrap.dedent(
            f"""
            import multiprocessing, tesela, warnings
            warnings.simplefilter("ignore")
            def solve(_):
                try: return [float(tesela.solve([[2.0]], [2.0])[0])]
                except RuntimeError: return "RuntimeError"
            if __name__ == "__main__":
                tesela.workers()
                with multiprocessing.get_context("{method}").Pool(1) as pool:
                    print(pool.map(solve, [0])[0])
            """
        )
    )
    done = subprocess.run([sys.executable, program], capture_output=True, text=True, timeout=120)
    assert (done.returncode, done.stdout) == (0, expected + "\n"), done.stderr


def test_the_interpreter_ends_in_mid_run():
    begun = time.monotonic()
    check(
        LARGE
        + """
tesela.workers()
def work():
    while True: tesela.qr(a)
for _ in range(2): threading.Thread(target=work, daemon=True).start()
time.sleep(0.5)
print("ends")
""",
        "ends\n",
    )
    assert time.monotonic() - begun < 60


@pytest.mark.parametrize("end", ["sys.exit(0)", "os._exit(0)", "os.kill(os.getpid(), signal.SIGTERM)"])
def test_ends(end):
    status, _, errors = run(LARGE + "tesela.qr(a[:, :100])\n" + end)
    assert status == (0 if "exit" in end else -15), errors


def test_a_home_that_cannot_be_written_is_replaced():
    environment = {k: v for k, v in os.environ.items() if k != "STARPU_HOME"}
    done = subprocess.run(
        [sys.executable, "-c", "import tesela; print(tesela.solve([[2.0]], [2.0]))"],
        capture_output=True,
        text=True,
        timeout=120,
        env={**environment, "HOME": "/proc"},
    )
    assert (done.returncode, done.stdout) == (0, "[1.]\n"), done.stderr


def test_a_second_copy_reports_that_the_first_has_the_workers(tmp_path):
    check(
        f"""
        import importlib.util, shutil, tesela._tesela as first
        path = shutil.copy(first.__file__, {str(tmp_path)!r})
        spec = importlib.util.spec_from_file_location("_tesela", path)
        second = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(second)
        first.workers()
        try: second.workers()
        except RuntimeError as e: print("alive" in str(e))
        """,
        "True\n",
    )


@pytest.mark.skipif("libasan" in os.environ.get("LD_PRELOAD", ""), reason="a sanitizer keeps freed memory for a while")
def test_calls_do_not_leak():
    check(
        """
        import numpy as np, tesela, os
        def rss(): return int(open("/proc/self/statm").read().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 2**20
        a, b, c = np.eye(6) + 1, np.ones(6), np.r_[4.0, np.ones(5)]
        def calls(n):
            for _ in range(n):
                tesela.lstsq(a, b); tesela.solve(a, b); tesela.qr(a); tesela.eigh(a); tesela.matmul(a, a)
                tesela.solve_tridiagonal(b[1:], c, b[1:], b); tesela.solve_toeplitz(c, b)
                try: tesela.solve(np.ones((2, 2)), np.ones(2))
                except np.linalg.LinAlgError: pass
        calls(150)
        before = rss()
        calls(1250)  # 10 000 calls
        print("grown" if rss() > before + 4 else "as before", rss() - before if rss() > before + 4 else "")
        """,
        "as before \n",
        timeout=400,
    )
