"""Known mistakes in window_mask; their pages are in window_mask.md."""

from grader.authoring import edit, mistake

NEAR = "q - k < window if"
RETURN = "return (k >= 0) & (k <= q) & (near | (k < sinks))"

MISTAKES = [
    mistake(
        "win-one-more",
        edit(NEAR, "q - k <= window if"),
        says="the window has one key more: the query's own is not counted",
        asks="How many keys does a query see with a window of one?",
        kind="different",
    ),
    mistake(
        "win-one-less",
        edit(NEAR, "q - k < window - 1 if"),
        forms=[[edit(NEAR, "(q - k < window - 1) | (q == k) if")]],
        says="the window has one key less",
        asks="How many keys does a query see with a window of three?",
    ),
    mistake(
        "win-not-itself",
        edit(RETURN, "return (k >= 0) & (k < q) & (near | (k < sinks))"),
        says="a query does not see its own key",
        asks="Is the key at the position of the query visible?",
    ),
    mistake(
        "win-before-itself",
        edit(NEAR, "q - k <= window if"),
        edit(RETURN, "return (k >= 0) & (k < q) & (near | (k < sinks))"),
        says="the window has the keys before the query, and the query's own key is hidden",
        asks="Which three keys does the query at position 7 see with a window of three?",
        kind="different",
    ),
    mistake(
        "win-not-causal",
        edit(RETURN, "return (k >= 0) & (near | (k < sinks))"),
        says="keys at later positions are visible",
        asks="May the query at position 2 see the key at position 3?",
    ),
    mistake(
        "win-both-sides",
        edit(NEAR, "(q - k).abs() < window if"),
        edit(RETURN, "return (k >= 0) & (near | (k < sinks))"),
        forms=[
            [
                edit(NEAR, "(q - k).abs() < window if"),
                edit(
                    RETURN,
                    "return (k >= 0) & ((near if window is not None else k <= q) | (k <= q) & (k < sinks))",
                ),
            ]
        ],
        says="the window reaches to both sides of the query",
        asks="May the query at position 2 see the key at position 3?",
    ),
    mistake(
        "win-empty-visible",
        edit(RETURN, "return (k <= q) & (near | (k < sinks))"),
        says="empty places are visible",
        asks="Which position has an empty place, and who may see it?",
    ),
    mistake(
        "win-empty-is-sink",
        edit(RETURN, "return (k <= q) & (near & (k >= 0) | (k < sinks) & (window is not None))"),
        says="empty places count as sinks",
        asks="Which positions are below the number of sinks, and which of them are keys?",
    ),
    mistake(
        "win-ignored",
        edit(NEAR, "q - k < 10**9 if"),
        says="the window is ignored",
        asks="Where does your code use the window?",
    ),
    mistake(
        "win-sinks-ignored",
        edit(RETURN, "return (k >= 0) & (k <= q) & near"),
        says="the sinks are ignored",
        asks="Where does your code use the sinks?",
    ),
    mistake(
        "win-only-sinks-and-window",
        edit(RETURN, "return (k >= 0) & (k <= q) & near & (k >= sinks)"),
        says="the sinks are hidden instead of visible",
        asks="What should happen to a key at a position below the number of sinks?",
    ),
    mistake(
        "win-sinks-always",
        edit(RETURN, "return (k >= 0) & ((k <= q) & near | (k < sinks))"),
        says="sinks are visible to queries before them",
        asks="May the query at position 1 see a sink at position 2?",
    ),
    mistake(
        "win-one-sink-more",
        edit(RETURN, "return (k >= 0) & (k <= q) & (near | (k <= sinks))"),
        says="there is one sink more than asked for",
        asks="Which positions are sinks if there are two of them?",
    ),
    mistake(
        "win-sinks-inside-window",
        edit(NEAR, "q - k < max(window - sinks, 1) if"),
        forms=[[edit(NEAR, "q - k < window - sinks if")]],
        says="the sinks take places of the window away",
        asks="How many keys does a late query see with a window of three and two sinks?",
    ),
    mistake(
        "win-places",
        edit(
            "q, k = q_positions[:, None], k_positions[None, :]",
            "T, S = len(q_positions), len(k_positions)\n"
            "    q = torch.arange(S - T, S, device=q_positions.device)[:, None]\n"
            "    k = torch.where(k_positions < 0, k_positions, torch.arange(S, device=k_positions.device))[None, :]",
        ),
        forms=[
            [
                edit(
                    "q, k = q_positions[:, None], k_positions[None, :]",
                    "T, S = len(q_positions), len(k_positions)\n"
                    f"    q, k = torch.arange({first}, device=k_positions.device)[:, None], torch.arange(S, device=k_positions.device)[None]",
                )
            ]
            for first in ("S - T, S", "T")
        ],
        says="the mask goes by the places of keys and queries instead of their positions",
        asks="Which position has the first key of a ring that has forgotten something?",
    ),
    mistake(
        "win-sinks-by-place",
        edit(
            RETURN,
            "place = torch.arange(k.shape[1], device=k.device)[None, :]\n    return (k >= 0) & (k <= q) & (near | (place < sinks))",
        ),
        says="the first places count as sinks instead of the first positions",
        asks="At which place of a ring are the sinks?",
    ),
    mistake(
        "win-true-hides",
        edit(RETURN, "return ~((k >= 0) & (k <= q) & (near | (k < sinks)))"),
        says="True means hidden in your mask",
        asks="What does True mean in a mask of this course?",
        kind="different",
    ),
    mistake(
        "win-transposed",
        edit(RETURN, "return ((k >= 0) & (k <= q) & (near | (k < sinks))).T"),
        says="rows and columns of the mask are exchanged",
        asks="Is a row of the mask for a query or for a key?",
    ),
]
