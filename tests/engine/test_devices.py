"""Devices: the choice of `--device`, out-of-memory errors, settings that lower the precision, and the report."""

import subprocess
from dataclasses import replace
from pathlib import Path

import pytest
import torch
from helpers.command_line import ROOT

from grader.engine import devices
from grader.engine.devices import extra_devices
from grader.judge.exceptions import ran_out_of_memory
from grader.judge.observation import StudentError
from grader.report.html import fragment
from grader.report.model import CheckResult, ExerciseResult, Report
from grader.report.shared_sentences import devices_checked
from grader.student.check import check
from grader.support.errors import GraderError
from grader.worker.main import _exactly

OUT_OF_MEMORY = "CUDA out of memory. Tried to allocate 20.00 MiB. GPU 0 has a total capacity of 7.79 GiB of which 1.2 MiB is free."


@pytest.mark.parametrize(
    ("device", "has_cuda", "wanted"),
    [
        ("sim", False, ("sim",)),
        ("auto", False, ("sim",)),
        ("auto", True, ("sim", "cuda")),
        ("cuda", True, ("cuda",)),
    ],
)
def test_auto_means_the_simulated_device_and_cuda_if_there_is_one(device, has_cuda, wanted, monkeypatch):
    monkeypatch.setattr(devices, "has_cuda", lambda: has_cuda)
    assert extra_devices(device) == wanted


def test_without_a_cuda_device_cuda_is_refused_with_advice(engine, monkeypatch):
    monkeypatch.setattr(devices, "has_cuda", lambda: False)
    with pytest.raises(GraderError, match="no CUDA device found; use --device sim"):
        check(
            ["masked_softmax"],
            engine.launcher,
            course=ROOT / "assignments",
            device="cuda",
            sandbox="basic",
            quiet=True,
        )


def test_torch_is_not_asked_for_cuda_without_a_driver(monkeypatch):
    monkeypatch.setattr(devices, "which", lambda name: None)
    monkeypatch.setattr(Path, "glob", lambda self, pattern: iter(()))
    monkeypatch.setattr(Path, "exists", lambda self: False)
    monkeypatch.setattr(subprocess, "run", lambda *a, **k: pytest.fail("torch was asked"))
    assert not devices.has_cuda()


@pytest.mark.parametrize(
    ("type", "message", "expected"),
    [
        ("OutOfMemoryError", OUT_OF_MEMORY, True),
        ("AcceleratorError", "CUDA error: out of memory\nCUDA kernel errors might be reported later", True),
        ("RuntimeError", "CUDA error: out of memory", True),
        ("RuntimeError", "CUDA error: CUBLAS_STATUS_ALLOC_FAILED when calling `cublasCreate(handle)`", True),
        ("RuntimeError", "CUDA error: device-side assert triggered", False),
        ("RuntimeError", "mat1 and mat2 shapes cannot be multiplied (2x3 and 2x3)", False),
        ("ValueError", "CUDA error: out of memory", False),
    ],
)
def test_out_of_memory_errors_are_distinguished_from_other_errors(type, message, expected):
    assert ran_out_of_memory(StudentError(type, message, None, "call")) is expected


@pytest.mark.filterwarnings("ignore")  # torch has newer names for these settings
def test_cuda_computes_in_the_given_dtype_despite_a_files_settings():
    matmul = torch.backends.cuda.matmul
    flags = [(matmul, f"allow_{kind}_reduced_precision_reduction") for kind in ("fp16", "bf16")]
    flags += [(matmul, "allow_tf32"), (torch.backends.cudnn, "allow_tf32"), (torch.backends.cudnn, "enabled")]
    before = [getattr(owner, name) for owner, name in flags]
    for owner, name in flags:
        setattr(owner, name, True)
    _exactly("cpu")
    assert all(getattr(owner, name) for owner, name in flags)
    for precision in ("high", "medium"):
        torch.set_float32_matmul_precision(precision)
        _exactly("cuda")
        assert not any(getattr(owner, name) for owner, name in flags)
        assert torch.get_float32_matmul_precision() == "highest"
    for (owner, name), value in zip(flags, before, strict=True):
        setattr(owner, name, value)


@pytest.mark.parametrize(
    ("outcomes", "outcome"),
    [
        (("passed", "passed"), "passed"),
        (("passed", "skipped"), "skipped"),
        (("failed", "skipped"), "failed"),
        (("could_not_grade", "skipped"), "could_not_grade"),
    ],
)
def test_the_device_passes_only_if_all_checks_could_be_compared(outcomes, outcome):
    on_cpu = ExerciseResult("a", "b", "passed", 1.0, 1.0, checks=as_checks("passed", "passed"))
    on_device = replace(on_cpu, checks=as_checks(*outcomes))
    assert devices._compared(on_cpu, on_device, "sim").outcome == outcome


def as_checks(*outcomes: str) -> tuple[CheckResult, ...]:
    return tuple(CheckResult(str(n), "values", "values", outcome) for n, outcome in enumerate(outcomes))


@pytest.mark.parametrize(
    ("names", "sentence"),
    [
        ((), ""),
        (("sim",), "checked on the simulated accelerator"),
        (("cuda",), "checked on a GPU"),
        (("sim", "cuda"), "checked on the simulated accelerator and on a GPU"),
    ],
)
def test_a_report_names_the_devices_besides_the_cpu(names, sentence):
    checks = [CheckResult(f"{n}/device", "device", "the same there", "passed", device=n) for n in names]
    checks += as_checks("passed")
    result = ExerciseResult("masked_softmax", "02_masking", "passed", 1.0, 1.0, checks=tuple(checks))
    report = Report((result,), "strict", "2", "1")
    assert devices_checked(report) == sentence
    page = fragment(report)
    assert sentence in page
    assert ("checked on" in page) == bool(names)
    assert ("accelerator" in page) == ("sim" in names)
