"""Examples of honest code, which attacks nothing, that work. `SENTENCES` in test_refused.py has some that do not."""

import pytest

HONEST = {
    "an optimizer that torch imports late": """
        import torch
        layer = torch.nn.Linear(2, 2)
        optimizer = torch.optim.AdamW(layer.parameters())
        layer(torch.ones(1, 2)).sum().backward()
        optimizer.step()
        answer = True
        """,
    "torch.func": """
        import torch
        square = lambda row: (row * row).sum()
        answer = torch.func.vmap(torch.func.grad(square))(torch.ones(2, 2)).tolist() == [[2, 2], [2, 2]]
        """,
    "torch.jit.script": """
        import linecache, torch
        text = "def f(x: torch.Tensor) -> torch.Tensor:\\n    return torch.relu(x) + 1\\n"
        linecache.cache["scripted.py"] = (len(text), None, text.splitlines(True), "scripted.py")
        exec(compile(text, "scripted.py", "exec"), globals())
        answer = torch.jit.script(f)(torch.ones(2)).tolist() == [2, 2]
        """,
    "torch.compile, which starts no compiler here": """
        import torch
        answer = torch.compile(lambda x: torch.relu(x) + 1)(torch.ones(2)).tolist() == [2, 2]
        """,
    "torch's lazy parts": """
        import torch.distributions, torch.fx, torch.nn.utils.parametrize, torch.utils.checkpoint
        answer = True
        """,
    "a data loader without processes": """
        import torch
        from torch.utils.data import DataLoader, TensorDataset
        answer = len(list(DataLoader(TensorDataset(torch.ones(4)), batch_size=2))) == 2
        """,
    "more torch threads": """
        import torch
        torch.set_num_threads(2)
        a = torch.ones(300, 300)
        answer = (a @ a)[0, 0].item() == 300
        """,
    "many threads": """
        import threading
        done = []
        threads = [threading.Thread(target=lambda: done.append(1)) for _ in range(40)]
        [thread.start() for thread in threads]
        [thread.join() for thread in threads]
        answer = len(done) == 40
        """,
    "temporary files": """
        import os, tempfile, torch
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "weights.pt")
            torch.save(torch.ones(3), path)
            answer = torch.load(path).tolist() == [1, 1, 1] and folder.startswith(os.environ["HOME"])
        """,
    "time, random numbers and names": """
        import getpass, os, pathlib, random, secrets, time, uuid
        random.random(), secrets.token_hex(), time.strftime("%Z"), os.cpu_count(), uuid.uuid4()
        time.sleep(0.001)
        answer = getpass.getuser() == "student" and str(pathlib.Path.home()) == os.getcwd()
        """,
    "an alarm of its own": """
        import signal
        seen = []
        signal.signal(signal.SIGALRM, lambda *_: seen.append(1))
        signal.setitimer(signal.ITIMER_REAL, 0.05)
        signal.pause()
        answer = seen == [1]
        """,
    "numpy and its linear algebra": """
        import numpy
        answer = bool(numpy.allclose(numpy.linalg.inv(numpy.eye(50)), numpy.eye(50)))
        """,
}


@pytest.mark.parametrize("source", HONEST.values(), ids=HONEST.keys())
def test_honest_code_works_in_the_sandbox(worker, source):
    assert worker.ask(source) == {"answer": True}


def test_torch_prints_no_warning_about_the_cpu(worker):
    """Without /proc/cpuinfo, torch would print a warning into the student's output."""
    assert worker.ask(
        "import torch; answer = torch.relu(torch.ones(2, 2) @ torch.ones(2, 2)).sum().item()"
    ) == {"answer": 8.0}
    assert worker.log == ""
