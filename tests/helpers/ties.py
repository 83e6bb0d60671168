"""Pairs of mistakes that no case can tell apart, by exercise.

The tests fail for such a pair that is not in this table. Then write a case that separates the two mistakes. Add an
entry only if both compute the same.
"""

TIES: dict[str, list[tuple[str, str]]] = {
    # Either way the embedding matrix gets no gradient and keeps its values.
    "TokenEmbedding": [("emb-detached", "emb-frozen")],
    # The transpose of a rotation matrix is its inverse.
    "shift_matrix": [("shift-backwards", "shift-layout-exchanged")],
    # Either way the random order is the same with every seed.
    "removal_experiment": [("removal-one-random-order", "removal-unshuffled")],
    # Either way the decoder attends to the newest word only.
    "greedy_decode": [("decode-in-training-mode", "decode-state-begun-anew")],
}
