"""Mistakes seen in masks and masked softmaxes."""

from grader.bank import mistake

MISTAKES = [
    mistake(
        "mask-length-counts-one-more",
        of="sequence_mask",
        swap={"steps[None, :] < valid_len": "steps[None, :] <= valid_len"},
        says="one step too many is kept in every row",
        asks="A row of length 2 keeps the steps 0 and 1. Which step does your comparison let through as well?",
    ),
]
