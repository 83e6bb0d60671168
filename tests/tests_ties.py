"""Mistakes that no case can tell apart, by exercise. A new one fails the tests: mostly the answer to it is a
better case, and only where the two really compute the same is it an entry here."""

TIES: dict[str, list[tuple[str, str]]] = {
    # Either way the table gets no gradient and keeps its numbers.
    "TokenEmbedding": [("emb-detached", "emb-frozen")],
    # The transpose of a rotation is the rotation back.
    "shift_matrix": [("shift-backwards", "shift-layout-exchanged")],
    # What a student measured is only seen through the checks that fail, and these fail the same ones.
    "removal_experiment": [
        ("removal-by-confidence", "removal-ranks-for-heads"),
        ("removal-loss-for-accuracy", "removal-never-restored"),
        ("removal-loss-for-accuracy", "removal-the-others"),
        ("removal-never-restored", "removal-the-others"),
        ("removal-one-random-order", "removal-unshuffled"),
    ],
    # Either way nothing that was written before is known.
    "greedy_decode": [("decode-in-training-mode", "decode-state-begun-anew")],
}
