"""Lifetimes of kernels, their tiles, and processes."""

import gc
import os
import threading
import weakref

import numpy as np
from conftest import check, numbers, values

import tesela
from tesela import In, InOut, Out


@tesela.kernel
class add:
    def cpu(x: In, y: InOut, factor=1):
        y += factor * x


@tesela.kernel
class fails:
    def cpu(a: InOut, when=True):
        if when:
            a[0, 0] = 1 / 0


# Kernels that are defined again


def define(factor):
    scope = {"InOut": InOut}
    exec(f"def cpu(a: InOut):\n a *= {factor}", scope)
    return tesela.kernel(type("scale", (), {"cpu": scope["cpu"]}))


def test_a_kernel_that_is_defined_again_replaces_the_old_one():
    x = numbers(1)
    scale = define(2)
    with tesela.Graph() as g:
        for _ in range(5):
            g.insert(scale, x[0, 0])
        old, scale = scale.model, define(3)
        g.insert(scale, x[0, 0])
    assert values(x) == [96]
    assert old != scale.model and define(3).model == scale.model and scale.name == "scale"


def test_times_of_other_code_are_not_used():
    check(
        """
        import numpy as np, tesela
        tesela.start(scheduler="dmdas")
        def define(factor):
            scope = {"InOut": tesela.InOut}
            exec(f"def cpu(a: InOut):\\n a *= {factor}", scope)
            return tesela.kernel(type("timed", (), {"cpu": scope["cpu"]}))
        def untimed(kernel, times):
            x = tesela.TileMatrix(np.ones((1, 1), order="F"), 1)
            with tesela.Graph(record=True) as g:
                for _ in range(times): g.insert(kernel, x[0, 0])
            return g.bounds().untimed
        untimed(define(1.0), 60)
        print(untimed(define(1.0), 2), untimed(define(1.5), 2))
        """,
        "0 2\n",
        environment={"STARPU_CALIBRATE": "1"},
    )


# Memory


def resident():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


MANY = int(os.environ.get("TESELA_MANY_GRAPHS", 2000))  # 10 000 once for a release


def test_many_graphs_leave_memory_unchanged():
    x = tesela.TileMatrix(np.ones((20, 20), order="F"), 10)

    def graphs(count):
        for i in range(count):
            with tesela.Graph() as g:
                g.insert(add, x[0, 0], x[1, 1], factor=i)
                g.insert(define(i % 3), x[0, 1]) if i % 50 == 0 else None
            try:
                with tesela.Graph() as g:
                    g.insert(fails, x[1, 0], when=i % 20 == 0)
            except ZeroDivisionError:
                x[1, 0]
                y = tesela.TileMatrix(np.ones((1, 1), order="F"), 1)
                with tesela.Graph() as g:
                    g.insert(add, y[0, 0], x[0, 0])
            if i % 20 == 0:
                restore(x)

    def restore(matrix):
        @tesela.kernel
        class one:
            def cpu(a: Out):
                a[...] = 1

        with tesela.Graph() as g:
            g.insert(one, matrix[1, 0])

    graphs(1000)
    gc.collect()
    before = resident()
    graphs(MANY)
    gc.collect()
    assert resident() - before < 2 << 20


def test_a_task_keeps_its_tiles_and_arguments():
    class Kept(np.ndarray):
        pass

    class Argument:
        pass

    array = np.asfortranarray(np.ones((1, 1))).view(Kept)
    argument = Argument()
    seen = weakref.ref(array), weakref.ref(argument)
    gate = threading.Event()

    @tesela.kernel
    class waits:
        def cpu(a: InOut, argument):
            gate.wait(10)

    g = tesela.Graph()
    x = tesela.TileMatrix(array, 1)
    g.insert(waits, x[0, 0], argument=argument)
    del x, array, argument
    gc.collect()
    assert seen[0]() is not None and seen[1]() is not None
    gate.set()
    g.wait()
    gc.collect()
    assert seen[0]() is None and seen[1]() is None


def test_matrices_and_graphs_that_end_in_a_task():
    """Garbage is collected on a worker's thread, where nothing may wait."""

    class Cycle:
        pass

    @tesela.kernel
    class collects:
        def cpu(a: InOut):
            gc.collect()

    x = numbers(1)
    with tesela.Graph() as g:
        for _ in range(20):
            cycle = Cycle()
            cycle.self, cycle.matrix, cycle.graph = cycle, numbers(1), tesela.Graph()
            cycle.graph.insert(add, cycle.matrix[0, 0], tesela.TileMatrix(np.zeros((1, 1), order="F"), 1)[0, 0])
            cycle = None
            g.insert(collects, x[0, 0])
    gc.collect()
    assert values(x) == [1]


# Processes


def test_ctrl_c_during_a_kernel():
    check(
        """
        import numpy as np, os, signal, tesela, time
        @tesela.kernel
        class slow:
            def cpu(a: tesela.InOut):
                if a[0, 0] == 0: os.kill(os.getpid(), signal.SIGINT)
                a += 1
                time.sleep(0.05)
        x = tesela.TileMatrix(np.zeros((1, 1), order="F"), 1)
        begin = time.time()
        try:
            with tesela.Graph() as g:
                for _ in range(1000): g.insert(slow, x[0, 0])
        except KeyboardInterrupt: print("interrupted", time.time() - begin < 20)
        y = tesela.TileMatrix(np.ones((1, 1), order="F"), 1)
        with tesela.Graph() as g: g.insert(slow, y[0, 0])
        print(y.to_numpy())
        """,
        "interrupted True\n[[2.]]\n",
    )


def test_the_interpreter_ends_with_tasks():
    check(
        """
        import numpy as np, tesela, time
        @tesela.kernel
        class slow:
            def cpu(a: tesela.InOut): time.sleep(0.01)
        x = tesela.TileMatrix(np.zeros((1, 1), order="F"), 1)
        g = tesela.Graph()
        for _ in range(1000): g.insert(slow, x[0, 0])
        print("end")
        """,
        "end\n",
    )


def test_the_interpreter_ends_while_a_thread_inserts():
    check(
        """
        import numpy as np, tesela, threading, time
        @tesela.kernel
        class add:
            def cpu(a: tesela.InOut): a += 1
        def work():
            x = tesela.TileMatrix(np.zeros((1, 1), order="F"), 1)
            while True:
                with tesela.Graph() as g:
                    for _ in range(10): g.insert(add, x[0, 0])
        for _ in range(3): threading.Thread(target=work, daemon=True).start()
        time.sleep(0.5)
        print("end")
        """,
        "end\n",
    )


def test_a_thread_stops_the_workers_while_others_insert():
    check(
        """
        import numpy as np, tesela, threading, time
        @tesela.kernel
        class add:
            def cpu(a: tesela.InOut): a += 1
        def work():
            for _ in range(50):
                try:
                    x = tesela.TileMatrix(np.zeros((1, 1), order="F"), 1)
                    with tesela.Graph() as g:
                        for _ in range(10): g.insert(add, x[0, 0])
                except RuntimeError: pass
        threads = [threading.Thread(target=work) for _ in range(3)]
        for t in threads: t.start()
        for _ in range(5):
            time.sleep(0.02)
            tesela.stop()
        for t in threads: t.join()
        print("end")
        """,
        "end\n",
    )


def test_a_fork_with_kernels():
    check(
        """
        import numpy as np, os, tesela
        @tesela.kernel
        class add:
            def cpu(a: tesela.InOut): a += 1
        x = tesela.TileMatrix(np.zeros((1, 1), order="F"), 1)
        with tesela.Graph() as g: g.insert(add, x[0, 0])
        child = os.fork()
        if child == 0:
            try: g.insert(add, x[0, 0])
            except RuntimeError: os._exit(7)
            os._exit(0)
        print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
        """,
        "7\n",
    )
