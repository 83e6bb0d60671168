"""The section "Let it learn" of lesson 01: what its cell prints is what the text and the picture say."""

import re
import runpy

from helpers.command_line import ROOT

from grader.authoring.content import read

POOLING = read(ROOT / "solutions" / "01_attention_pooling")


def test_the_width_is_learned_as_the_text_says(capsys):
    runpy.run_path(str(POOLING.folder / f"{POOLING.module}.py"), run_name="__main__")
    steps = re.findall(r"^step (\d+): w = (.+), loss = (.+)$", capsys.readouterr().out, re.M)
    assert [int(step) for step, _w, _loss in steps] == [0, 10, 20, 30, 40]
    text = " ".join(re.sub(r"^# ?", "", POOLING.source, flags=re.M).split())
    (_0, w, loss), *_between, (_40, learned, least) = steps
    assert f"$w$ goes from {w} to {learned}, and the loss from {loss} to {least}." in text
    assert f"Before, with w = {w}, the answers" in text
    assert f"After, with w = {learned}, they follow" in text


def test_nothing_is_learned_while_the_file_is_checked(capsys):
    runpy.run_path(str(POOLING.folder / f"{POOLING.module}.py"))
    assert "step" not in capsys.readouterr().out
