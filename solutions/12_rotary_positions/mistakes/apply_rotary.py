"""Known mistakes in apply_rotary; their pages are in apply_rotary.md."""

from grader.authoring import dtype_mistake, edit, mistake

TURN = "torch.stack([a * cos - b * sin, a * sin + b * cos], dim=-1)"
READ = "a, b = x[..., 0::2], x[..., 1::2]"

MISTAKES = [
    mistake(
        "turn-written-as-halves",
        edit(TURN, "torch.cat([a * cos - b * sin, a * sin + b * cos], dim=-1)"),
        edit("turned.flatten(-2)", "turned"),
        says="pairs are read as neighbours and written back as halves",
        asks="At which places do the two features of the first pair end up?",
    ),
    mistake(
        "turn-read-as-halves",
        edit(READ, "a, b = x.chunk(2, dim=-1)"),
        says="pairs are read as halves and written back as neighbours",
        asks="At which places are the two features of the first pair in the input?",
    ),
    mistake(
        "turn-halves",
        edit(READ, "a, b = x.chunk(2, dim=-1)"),
        edit(TURN, "torch.cat([a * cos - b * sin, a * sin + b * cos], dim=-1)"),
        edit("turned.flatten(-2)", "turned"),
        says="pairs are halves: feature i turns with feature i + d/2; a valid convention, for which these weights do not fit",
        asks="Which two features form the first pair in this course?",
        kind="different",
    ),
    mistake(
        "turn-backwards",
        edit("angles.cos(), angles.sin()", "angles.cos(), -angles.sin()"),
        says="pairs are turned the other way round",
        asks="Where does the point (1, 0) go if it is turned by a small positive angle?",
        kind="different",
    ),
    mistake(
        "turn-no-minus",
        edit("a * cos - b * sin", "a * cos + b * sin"),
        says="both sines have the same sign: this is not a rotation",
        asks="How long is the vector (1, 1) before and after your turn?",
    ),
    mistake(
        "turn-sine-cosine-exchanged",
        edit("angles.cos(), angles.sin()", "angles.sin(), angles.cos()"),
        says="sine and cosine are swapped",
        asks="What should happen to a vector at position 0?",
    ),
    mistake(
        "turn-only-cosines",
        edit(TURN, "torch.stack([a * cos, b * cos], dim=-1)"),
        says="the features are only scaled by cosines: the two of a pair do not mix",
        asks="Which two features should the new first feature be made of?",
    ),
    mistake(
        "turn-second-from-new-first",
        edit(
            TURN,
            "torch.stack([a * cos - b * sin, (a * cos - b * sin) * sin + b * cos], dim=-1)",
        ),
        says="the second feature of a pair is computed from the first one after its turn",
        asks="Which value of the first feature does the formula use in both rows?",
    ),
    mistake(
        "turn-counts-instead",
        edit(
            "angles = rotary_angles(positions, x.shape[-1], base)",
            """
            positions = torch.arange(x.shape[2], device=x.device).expand(positions.shape)
            angles = rotary_angles(positions, x.shape[-1], base)
            """,
        ),
        says="the positions are ignored: the steps are turned as if they were 0, 1, 2, …",
        asks="Where does your code use the positions?",
    ),
    mistake(
        "turn-first-sequence-for-all",
        edit("angles = angles[:, None]", "angles = angles[:1, None]"),
        says="all sequences are turned by the positions of the first one",
        asks="What should happen if two sequences of a batch have different positions?",
    ),
    mistake(
        "turn-base-not-passed",
        edit("rotary_angles(positions, x.shape[-1], base)", "rotary_angles(positions, x.shape[-1])"),
        says="the base is not passed on",
        asks="Which base do your angles have if the caller asks for 500?",
    ),
    mistake(
        "turn-only-first-half",
        edit(
            "return turned.flatten(-2).to(x.dtype)",
            "turned[..., turned.shape[-2] // 2 :, :] = torch.stack([a, b], -1)[..., turned.shape[-2] // 2 :, :]\n"
            "    return turned.flatten(-2).to(x.dtype)",
        ),
        says="only a part of the features is turned; some models do so on purpose",
        asks="How many of the pairs should turn in this course?",
        kind="different",
    ),
    mistake(
        "turn-own-sequences-refused",
        edit("if positions.dim() == 2:", "if False:"),
        says="positions of each sequence do not fit the axes of the heads",
        asks="Which axes have the angles if each sequence has positions of its own, and which has x?",
    ),
    mistake(
        "turn-in-place",
        edit(
            "return turned.flatten(-2).to(x.dtype)",
            "with torch.no_grad():\n        x.copy_(turned.flatten(-2))\n    return turned.flatten(-2).to(x.dtype)",
        ),
        says="the argument is overwritten",
        asks="What does the caller find in x after the call?",
    ),
    mistake(
        "turn-detached",
        edit("a, b = x[..., 0::2], x[..., 1::2]", "a, b = x[..., 0::2], x[..., 1::2].detach()"),
        says="no gradient flows back through the second features of the pairs",
        asks="Which features of x get a gradient?",
    ),
    dtype_mistake(
        "turn-coarse-angles",
        edit("angles.cos(), angles.sin()", "angles.to(x.dtype).cos(), angles.to(x.dtype).sin()"),
        says="the angles are rounded to the dtype of x before their sine is taken",
        asks="Which whole numbers above 256 can bfloat16 represent?",
    ),
    dtype_mistake(
        "turn-wide-result",
        edit("turned.flatten(-2).to(x.dtype)", "turned.flatten(-2)"),
        says="the result has the dtype of the angles instead of that of x",
        asks="Which dtype has a product of bfloat16 and float32?",
    ),
]
