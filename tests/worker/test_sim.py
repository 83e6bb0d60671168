"""The simulated accelerator has the rules of CUDA: right answers pass, device mistakes fail with a line."""

import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing

import pytest
from helpers.answers import ANSWERS
from helpers.command_line import ROOT
from helpers.minimal import submission_of

from grader.authoring.bank import apply
from grader.authoring.content import Assignment, read_all
from grader.engine.devices import check_on_device, has_cuda, launcher_for
from grader.engine.engine import Engine
from grader.engine.grading import GradingOptions
from grader.intake.read import Submission
from grader.report.model import ExerciseResult

ASSIGNMENTS = read_all(ROOT / "solutions")
MIXED = "Expected all tensors to be on the same device, but found at least two devices, cuda:0 and cpu!"
ELSEWHERE = (
    "is on cpu, different from other tensors on cuda:0 (when checking argument in method wrapper_CUDA_"
)
TO_NUMPY = "can't convert cuda:0 device type tensor to numpy"

# Rule → an expression, and its value or the exception that it raises.
# X (2, 3, 4) is on the device D, and Y is a copy of X.
RULES = {
    "values": ("X[0, 0].tolist()", [0.0, 1.0, 2.0, 3.0]),
    "formatted": ("f'{X[0, 0, 1]:.1f}'", "1.0"),
    "str": ("str(X[0, 0])", "tensor([0., 1., 2., 3.], device='cuda:0')"),
    "cpu": ("type(X.cpu()) is torch.Tensor and X.cpu().numpy()[0, 0, 1]", 1.0),
    "tied weights of a module that the grader moves": ("tied()", True),
    "numpy": ("X.numpy()", TypeError(TO_NUMPY)),
    "numpy by conversion": ("numpy.asarray(X)", TypeError(TO_NUMPY)),
    "sum of both": ("X + torch.ones(4)", RuntimeError(MIXED)),
    "product of both": ("X @ torch.ones(4, 4)", RuntimeError(f"got mat2 {ELSEWHERE}mm)")),
    "joined": ("torch.cat([X, torch.ones(2, 3, 4)])", RuntimeError(f"got tensors {ELSEWHERE}cat)")),
    "where": ("torch.where(X > 0, X, torch.ones(1))", RuntimeError(MIXED)),
    "mask of the CPU": (
        "X.masked_fill(torch.ones(4) > 0, 0)",
        RuntimeError("mask on cpu and self on cuda:0"),
    ),
    "token ids of the CPU": ("nn.Embedding(5, 2).to(D)(torch.tensor([1]))", RuntimeError(ELSEWHERE)),
    "in place into the CPU": ("torch.ones(4).add_(X[0, 0])", RuntimeError(MIXED)),
    "a scalar tensor of the CPU": ("(X * torch.tensor(2.0))[0, 0].tolist()", [0.0, 2.0, 4.0, 6.0]),
    "stack with a scalar of the CPU": (
        "torch.stack([X[0, 0, 0], torch.tensor(1.0)])",
        RuntimeError(f"got tensors {ELSEWHERE}"),
    ),
    "index of the CPU": ("X[0, 0][torch.tensor([1, 3])].tolist()", [1.0, 3.0]),
    "mask of the CPU as an index": ("X[0, 0][torch.arange(4) > 2].tolist()", [3.0]),
    "a list as an index": ("X[0, 0, [1, 3]].tolist()", [1.0, 3.0]),
    "a list of booleans as an index": ("X[0, 0][[True, False, False, False]].tolist()", [0.0]),
    "an empty list as an index": ("tuple(X[0, []].shape)", (0, 4)),
    "an array as an index": ("X[0, 0][numpy.array([1, 3])].tolist()", [1.0, 3.0]),
    "index into the CPU": ("torch.ones(4)[(X[0, 0] > 0)]", RuntimeError("either on cpu or on the same")),
    "made without a device": ("torch.arange(3).device.type", "cpu"),
    "a range on the device": ("tuple(torch.arange(1, 7, 2, device=D).shape)", (3,)),
    "a conjugate": (
        "torch.view_as_real(torch.complex(X[0, 0], X[0, 0]).conj() * 1)[2].tolist()",
        [2.0, -2.0],
    ),
    "resized": ("tuple(torch.ones(4, device=D).resize_(2, 2).shape)", (2, 2)),
    "made like X": (
        "[t.is_cuda for t in (torch.zeros_like(X), X.new_ones(2), torch.ones(2).to(X))]",
        [True] * 3,
    ),
    "new_tensor of X": (
        "X.new_tensor(-1e30).is_cuda and str(X.double().new_tensor([2]).dtype)",
        "torch.float64",
    ),
    "cuda by name": ("torch.zeros(2, device='cuda').is_cuda and torch.ones(2).to('cuda:0').is_cuda", True),
    "cuda as a method": ("torch.ones(2).cuda().is_cuda and nn.Linear(2, 2).cuda().weight.is_cuda", True),
    "cuda as a default": ("[t.is_cuda for t in [default_cuda()]]", [True]),
    "written through a mask": ("written(Y, Y > 3)", [0.0, 1.0, 2.0, 3.0, -1.0]),
    "written at a list of indices": ("written(Y, [0])", [-1.0] * 5),
    "written through a view": ("view_written(Y)", [7.0, 1.0, 2.0, 3.0]),
    "shape changed in place": ("tuple((Y.unsqueeze_(1).transpose_(2, 3) + 1).shape)", (2, 1, 4, 3)),
    "a parameter stays a parameter": ("isinstance(nn.Linear(2, 2).to(D).weight, nn.Parameter)", True),
    "new data": ("new_data(nn.Linear(4, 4).to(D))", 16.0),
    "copied deeply": ("copy.deepcopy(nn.Linear(2, 2).to(D)).weight.is_cuda", True),
    "a buffer moves": ("buffered().to(D).P.is_cuda", True),
    "einsum": ("torch.einsum('bqd,bkd->bqk', X, X)[0, 0, 0].item()", 14.0),
    "inference mode": ("[inference(X).is_cuda, inference(X).requires_grad]", [True, False]),
    "inference mode, iterated": ("rows(X)", [3, 3]),
    "attention": ("same(lambda X, m: m(X, X, X)[0], nn.MultiheadAttention(4, 2).eval())", True),
    "encoder layer": ("same(lambda X, m: m(X), nn.TransformerEncoderLayer(4, 2, 8, dropout=0.0))", True),
    "GRU": ("same(lambda X, m: m(X)[0], nn.GRU(4, 5, 2))", True),
    "dropout between layers": ("same(lambda X, m: m(X)[0], nn.GRU(4, 5, 2, dropout=1.0))", True),
    "LSTM": ("same(lambda X, m: m(X)[0], nn.LSTM(4, 5, 2))", True),
    "eval mode": ("same(lambda X, m: m(X)[0], nn.GRU(4, 5, 2).eval())", True),
    "cells": (
        "[same(lambda X, m: cell(X[0], m), kind(4, 5)) for kind in (nn.GRUCell, nn.LSTMCell)]",
        [True] * 2,
    ),
    "a hidden state of the CPU": (
        "nn.GRU(4, 5).to(D)(X, torch.zeros(1, 3, 5))",
        RuntimeError("hidden tensor at cpu"),
    ),
    "embedding": (
        "same(lambda X, m: m((24 * X).round().long() % 5), nn.Embedding(5, 4, padding_idx=1))",
        True,
    ),
    "dropout": ("sorted(set(F.dropout(torch.ones(99, device=D), 0.5).tolist()))", [0.0, 2.0]),
}

DEVICES = {
    "sim": "from grader.worker import sim; sim.register(); D = sim.place()",
    "cuda": "from grader.worker.main import _exactly; D = 'cuda:0'; _exactly('cuda')",
}

HELPERS = """
import copy, json, numpy, sys, torch
from torch import nn
from torch.nn import functional as F
from grader.worker import modules

def written(Y, mask):
    Y[mask] = -1
    return Y.flatten()[:5].tolist()

def view_written(Y):
    Y.view(-1)[0] = 7
    return Y[0, 0].tolist()

def default_cuda():
    with torch.device("cuda"):
        return torch.zeros(2)

def new_data(layer):
    layer.weight.data = torch.ones(4, 4, device=D)
    return layer.weight.sum().item()

def buffered():
    module = nn.Module()
    module.register_buffer("P", torch.ones(2))
    return module

def inference(X):
    with torch.inference_mode():
        return nn.Linear(4, 4).to(D)(X)

@torch.inference_mode
def rows(X):
    return [len([step for step in row]) for row in X]

def cell(X, m):
    out = m(X)
    return sum(out) if isinstance(out, tuple) else out

def tied():
    pair = nn.Sequential(nn.Linear(3, 3), nn.Linear(3, 3))
    pair[1].weight = pair[0].weight
    modules.move(pair, torch.float32, torch.device(D))
    return pair[1].weight is pair[0].weight and pair[0].weight.device.type == torch.device(D).type

def same(run, module=None):
    seen = []
    for device in ("cpu", D):
        x = (torch.arange(24.0).reshape(2, 3, 4) / 24).to(device).requires_grad_()
        copied = copy.deepcopy(module).to(device) if module is not None else None
        out = run(x, copied)
        (out * out).sum().backward()
        learned = [x, *(copied.parameters() if copied is not None else ())]
        seen.append([out.cpu(), *(t.grad.cpu() if t.grad is not None else torch.zeros(1) for t in learned)])
    return all(torch.allclose(a, b, atol=1e-5) for a, b in zip(*seen, strict=True))

answers = {}
for name, line in json.load(sys.stdin).items():
    X = torch.arange(24.0).reshape(2, 3, 4).to(D)
    Y = X.clone()
    torch.manual_seed(1)  # the weights of modules: rounding differs between devices
    try:
        value = eval(line)
        # For JSON, a tuple becomes a list, and a scalar of numpy or torch becomes a number.
        answers[name] = list(value) if isinstance(value, tuple) else getattr(value, "item", lambda: value)()
    except Exception as error:
        answers[name] = [type(error).__name__, str(error)]
print(json.dumps(answers))
"""


# End the process as workers of the server end. Otherwise it may be aborted, because a thread of autograd may
# need the interpreter while that shuts down.
END = "\nimport os, sys; sys.stdout.flush(); os._exit(0)"


def python(source: str, given: str = "") -> str:
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", source + END],
        input=given,
        capture_output=True,
        text=True,
        cwd=ROOT,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture(
    scope="module", params=["sim", pytest.param("cuda", marks=[pytest.mark.slow, pytest.mark.cuda])]
)
def answers(request) -> dict[str, object]:
    """Evaluate all expressions of RULES in one process. Return rule → value or [exception type, message]."""
    if request.param == "cuda":
        need_cuda()
    lines = {name: line for name, (line, _want) in RULES.items()}
    return json.loads(python(f"{DEVICES[request.param]}\n{HELPERS}", json.dumps(lines)))


def need_cuda() -> None:
    if not has_cuda():
        pytest.skip("NOT COMPARED: torch sees no CUDA device here")


@pytest.mark.parametrize("name", RULES)
def test_the_rules_are_those_of_cuda(name, answers):
    want = RULES[name][1]
    if isinstance(want, Exception):
        kind, message = answers[name]
        assert kind == type(want).__name__
        assert str(want) in message
    else:
        assert answers[name] == (list(want) if isinstance(want, tuple) else want)


@pytest.mark.slow
def test_registering_twice_works_and_old_torch_gives_a_message():
    python("from grader.worker import sim; sim.register(); sim.register()")
    output = python(
        "import torch.utils.backend_registration as b; del b._setup_privateuseone_for_python_backend\n"
        "from grader.worker import sim\n"
        "try: sim.register()\nexcept RuntimeError as error: print(error)"
    )
    assert "has no way to make the simulated device" in output


@pytest.mark.slow
def test_a_plain_worker_registers_nothing():
    output = python(
        "import sys, grader.worker.main as m, torch; m._device('cpu'); print('grader.worker.sim' in sys.modules, hasattr(torch, 'sim'))"
    )
    assert output.split() == ["False", "False"]


@pytest.fixture(scope="module")
def on_sim(bundles) -> Iterator[Engine]:
    options = GradingOptions(device="sim", reuse_worker=True)
    with closing(launcher_for("sim")) as launcher, closing(Engine(bundles, launcher, options)) as engine:
        yield engine


def graded(engine: Engine, assignment: Assignment, source: str, name: str) -> ExerciseResult:
    return engine.grade(submission_of(source, f"{assignment.module}.py"), [name]).exercises[0]


def graded_on_both(
    engine: Engine, on_sim: Engine, assignment: Assignment, source: str, names: list[str]
) -> dict[str, ExerciseResult]:
    submission = submission_of(source, f"{assignment.module}.py")
    here = engine.grade(submission, names).exercises
    return {r.name: r for r in check_on_device(on_sim, submission, here)}


@pytest.fixture
def masking() -> Assignment:
    return next(a for a in ASSIGNMENTS if a.name == "02_masking")


@pytest.mark.slow
def test_the_report_has_one_device_check_that_costs_its_share(masking, engine, on_sim):
    mistake = next(m for m in masking.mistakes("masked_softmax") if m.id == "softmax-keys-counted-on-the-cpu")
    names = ["masked_softmax", "sequence_mask"]
    results = graded_on_both(engine, on_sim, masking, apply(mistake, masking.source), names)
    wrong, right = (results[name] for name in names)
    (check,) = [c for c in wrong.checks if c.device == "sim"]
    assert (check.facet, check.outcome) == ("device", "failed")
    assert check.where.startswith("masking.py, line ")
    assert wrong.outcome == "failed"
    assert wrong.points / 2 < wrong.score < wrong.points
    assert right.outcome == "passed"
    assert [c.outcome for c in right.checks if c.device == "sim"] == ["passed"]


@pytest.mark.slow
def test_on_the_cpu_outputs_fail_and_attention_weights_pass(masking, on_sim):
    source = masking.source.replace(
        "return X.masked_fill(~keep, value)", "return X.masked_fill(~keep, value).cpu()"
    )
    result = graded(on_sim, masking, source, "sequence_mask")
    assert any("a tensor on the cpu" in check.message for check in result.checks)
    scoring = next(a for a in ASSIGNMENTS if a.name == "03_scoring")
    returned = "        return self.dropout(self.attention_weights) @ values"
    assert returned in scoring.source
    detached = "        self.attention_weights = self.attention_weights.detach().cpu()\n        return result"
    source = scoring.source.replace(returned, returned.replace("return", "result =") + "\n" + detached)
    assert graded(on_sim, scoring, source, "DotProductAttention").outcome == "passed"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("ends", "says"),
    [
        ("os._exit(3)", "the worker process ended twice"),
        (
            "raise torch.OutOfMemoryError('Tried to allocate 20.00 MiB')",
            "GPU out of memory: close other programs",
        ),
    ],
)
def test_a_device_that_fails_costs_nothing(masking, engine, on_sim, ends, says):
    steps = "steps = torch.arange"
    source = masking.source.replace(steps, f"import os\n    if X.is_cuda:\n        {ends}\n    {steps}")
    result = graded_on_both(engine, on_sim, masking, source, ["sequence_mask"])["sequence_mask"]
    assert (result.outcome, result.score) == ("passed", result.points)
    (check,) = [c for c in result.checks if c.device == "sim"]
    assert (check.facet, check.outcome) == ("device", "could_not_grade")
    assert check.message.startswith(says)


@pytest.fixture
def on_cuda(bundles) -> Iterator[Engine]:
    need_cuda()
    options = GradingOptions(device="cuda", reuse_worker=True)
    with closing(launcher_for("cuda")) as launcher, closing(Engine(bundles, launcher, options)) as engine:
        yield engine


@pytest.mark.slow
@pytest.mark.cuda
@pytest.mark.parametrize("name", [e.name for a in ASSIGNMENTS for e in a.exercises])
def test_cuda_gives_the_verdicts_of_the_simulated_device(name, on_cuda, on_sim):
    """Compare references, right variants and answers, device and precision mistakes, check by check.

    `make cuda` runs this on a machine with a GPU.
    """
    differing = []
    for what, submission in compared(name):
        real, sim = (outcomes(e.grade(submission, [name]).exercises[0]) for e in (on_cuda, on_sim))
        differing += [
            f"{what}, {check}: CUDA {real.get(check)}, simulated {sim.get(check)}"
            for check in real.keys() | sim.keys()
            if real.get(check) != sim.get(check)
        ]
    assert not differing, "\n".join(differing)


def compared(name: str) -> Iterator[tuple[str, Submission]]:
    """Yield what both devices must grade alike: a name for messages, and the submission."""
    assignment = next(a for a in ASSIGNMENTS if name in {e.name for e in a.exercises})
    known = [v for v in assignment.variants() if v.kind != "trivial"]
    known += [m for m in assignment.mistakes() if m.breaks in ("device", "precision")]
    sources = [("the reference", assignment.source)]
    sources += [(a.id, apply(a, assignment.source)) for a in known if a.of == name]
    for what, source in sources:
        yield what, submission_of(source, f"{assignment.module}.py")
    for answer in ANSWERS:
        if answer.is_right and answer.exercise == name:
            yield answer.name, answer.submission


def outcomes(result: ExerciseResult) -> dict[str, str]:
    """Return check → outcome, and the exercise's outcome, because a file that does not load has no checks."""
    return {"the exercise": result.outcome} | {check.id: check.outcome for check in result.checks}
