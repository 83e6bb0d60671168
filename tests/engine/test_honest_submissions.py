"""Statements that the sandbox refuses are skipped, and the report says why. Honest code: tests/files/honest.md."""

import pytest

NO_PROGRAMS, NO_NETWORK = "starts no other programs", "no network"
REFUSED = {
    "import subprocess\nsubprocess.run(['ls'])": NO_PROGRAMS,
    "import os\nos.system('ls')": NO_PROGRAMS,
    "import multiprocessing\nmultiprocessing.Process(target=print).start()": NO_PROGRAMS,
    "import socket\nsocket.create_connection(('127.0.0.1', 1))": NO_NETWORK,
    "import urllib.request\nurllib.request.urlopen('http://127.0.0.1')": NO_NETWORK,
    "from torch.utils.data import DataLoader, TensorDataset\nnext(iter(DataLoader(TensorDataset(torch.ones(4)), num_workers=2)))": "use num_workers=0",
}
SOFTMAX = "\ndef masked_softmax(X, valid_lens):\n    return X.softmax(-1)\n"


@pytest.mark.parametrize(("source", "sentence"), REFUSED.items())
def test_a_refused_statement_is_skipped_and_reported(engine, grade, source, sentence):
    if engine.launcher.tier == "basic":
        pytest.skip("the basic tier does not refuse it")
    report = grade(f"import torch\n{source}\n{SOFTMAX}", ["masked_softmax"])
    assert report.exercises[0].checks, "the file was not loaded"
    assert any(sentence in remark for remark in report.remarks), report.remarks
