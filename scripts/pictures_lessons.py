"""Draw the pictures of the lessons: python scripts/pictures_lessons.py [NAME ...]

A name is a part of a path, such as 11_capstone; without one, all are drawn. Writes solutions/*/pictures/*.svg; `grader build` copies them to `assignments/`. Needs the dependency group
`pictures`.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import matplotlib
from lesson_pictures import curves, diagrams, measured, tables, trained
from lesson_pictures.sheet import SETTINGS, Sheet

ROOT = Path(__file__).resolve().parents[1]
PICTURES: dict[str, Callable[[], Sheet]] = {
    "01_attention_pooling/pictures/kernel_regression.svg": curves.kernel_regression,
    "01_attention_pooling/pictures/learned_width.svg": measured.learned_width,
    "01_attention_pooling/pictures/broadcasting.svg": tables.broadcasting,
    "02_masking/pictures/masks.svg": tables.masks,
    "03_scoring/pictures/square_root.svg": curves.square_root,
    "04_heads/pictures/memory.svg": tables.heads_in_memory,
    "05_multi_head_attention/pictures/multi_head_attention.svg": diagrams.multi_head_attention,
    "05_multi_head_attention/pictures/activations.svg": measured.activations,
    "06_positions/pictures/table_of_sines.svg": curves.table_of_sines,
    "07_encoder/pictures/block.svg": diagrams.encoder_block,
    "08_decoder/pictures/block.svg": diagrams.decoder_block,
    "08_decoder/pictures/cache.svg": tables.cache,
    "09_seq2seq/pictures/one_step.svg": diagrams.reading_encoder,
    "10_pruning/pictures/owned_by_a_head.svg": tables.owned_by_a_head,
    "12_rotary_positions/pictures/clocks.svg": curves.clocks,
    "13_kv_cache/pictures/strips.svg": tables.strips,
    "14_fewer_keys/pictures/ring.svg": tables.ring,
    "15_tiles/pictures/tiles.svg": tables.tiles,
    "16_sampling/pictures/overlap.svg": curves.overlap,
    "17_language_model/pictures/block.svg": diagrams.language_model_block,
    "17_language_model/pictures/loss.svg": curves.loss_of_a_training,
    **trained.PICTURES,
}


def draw(name: str) -> str:
    """Return the SVG of one picture."""
    with matplotlib.rc_context():
        matplotlib.rcdefaults()
        matplotlib.rcParams.update(SETTINGS)
        return PICTURES[name]().svg()


def main(solutions: Path, asked: list[str]) -> None:
    for name in (n for n in PICTURES if not asked or any(part in n for part in asked)):
        path = solutions / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(draw(name), "utf-8")
        print(path, path.stat().st_size)


if __name__ == "__main__":
    main(ROOT / "solutions", sys.argv[1:])
