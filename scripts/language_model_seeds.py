"""Train the reference's language model from many seeds, as lesson 17 does, and measure it on new text.

    python scripts/language_model_seeds.py                      seed 0: two minutes on one core; curve, losses, verses
    python scripts/language_model_seeds.py --seeds 20           seeds 0 to 19
    python scripts/language_model_seeds.py --save weights.safetensors

docs/language_model.md has what was measured.
"""

from __future__ import annotations

import random
import runpy
import time
from collections.abc import Iterator
from typing import Any

import torch
from safetensors.torch import save_file
from shared import ROOT, parser
from torch.nn.functional import cross_entropy

from grader.given import ALPHABET, SIZES, LanguageModel, verse_batches

FRESH = 2, 3  # the seeds of two new texts
FOLDER = ROOT / "solutions" / "17_language_model"
lesson = runpy.run_path(str(FOLDER / "language_model.py"), run_name="lesson")
exam: dict[str, Any] = {}  # the code that measures handed-in weights
exec(runpy.run_path(str(FOLDER / "cases.py"))["TEXT"], exam)


def noted(
    batches: Iterator[torch.Tensor], losses: list[float], model: LanguageModel
) -> Iterator[torch.Tensor]:
    """Yield the batches; note the loss of every twentieth before it is trained on."""
    for step, tokens in enumerate(batches):
        if step % 20 == 0:
            losses.append(loss_of(model, tokens))
        yield tokens


@torch.no_grad()
def loss_of(model: LanguageModel, tokens: torch.Tensor) -> float:
    return cross_entropy(model(tokens[:, :-1]).mT, tokens[:, 1:]).item()


def main() -> None:
    known = parser(__doc__)
    known.add_argument("--first", type=int, default=0)
    known.add_argument("--seeds", type=int, default=1)
    known.add_argument("--steps", type=int, default=1000)
    known.add_argument("--save", default="")
    options = known.parse_args()
    torch.set_num_threads(1)
    for seed in range(options.first, options.first + options.seeds):
        torch.manual_seed(seed)
        model, losses, started = LanguageModel(**SIZES), [], time.process_time()
        lesson["train_language_model"](model, noted(verse_batches(1), losses, model), options.steps)
        seconds = time.process_time() - started
        fresh = [next(verse_batches(fresh, rows=200, length=168)) for fresh in FRESH]
        fresh.append(exam["with_other_names"](fresh[0]))
        new = [loss_of(model, rows[:, :161]) for rows in fresh]
        print(f"seed {seed}: {seconds:.0f} s; new text {new[0]:.4f}, {new[1]:.4f}; other names {new[2]:.4f}")
        print("every 20 steps:", *(f"{loss:.3f}" for loss in losses), flush=True)
        prompt = torch.full((30, 1), ALPHABET.index("\n"))
        text = lesson["write_text"](model, prompt, 159, random.Random(seed).random, top_p=0.9)
        for row in text[:3].tolist():
            print("".join(ALPHABET[token] for token in row).split("\n\n")[0] + "\n")
        if options.save:
            save_file(model.state_dict(), options.save)


if __name__ == "__main__":
    main()
