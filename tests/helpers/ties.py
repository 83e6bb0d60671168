"""Mistakes that no case can tell apart, by exercise. A new one fails the tests: mostly the answer to it is a
better case, and only where the two really compute the same is it an entry here."""

TIES: dict[str, list[tuple[str, str]]] = {
    # Either way the table gets no gradient and keeps its numbers.
    "TokenEmbedding": [("emb-detached", "emb-frozen")],
    # The transpose of a rotation is the rotation back.
    "shift_matrix": [("shift-backwards", "shift-layout-exchanged")],
    # A random order that is always the same one.
    "removal_experiment": [("removal-one-random-order", "removal-unshuffled")],
    # Either way nothing that was written before is known.
    "greedy_decode": [("decode-in-training-mode", "decode-state-begun-anew")],
}
