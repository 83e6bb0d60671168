"""Known mistakes in rotary_angles; their pages are in rotary_angles.md."""

from grader.authoring import edit, mistake

SPEEDS = "speeds = base ** (-even.double() / d)"

MISTAKES = [
    mistake(
        "rot-exponent-counts-pairs",
        edit(SPEEDS, "speeds = base ** (-even.double() / 2 / d)"),
        says="the exponent counts the pairs instead of twice the pairs, so the slow pairs turn too fast",
        asks="What is your exponent for the last of three pairs?",
    ),
    mistake(
        "rot-exponent-doubled",
        edit(SPEEDS, "speeds = base ** (-2 * even.double() / d)"),
        says="the exponent is twice as large as it should be, so the slow pairs turn too slowly",
        asks="Which exponent should the last of three pairs have?",
    ),
    mistake(
        "rot-base-fixed",
        edit(SPEEDS, "speeds = 10000.0 ** (-even.double() / d)"),
        says="the angles ignore the base",
        asks="Where does your code use the base that was passed?",
    ),
    mistake(
        "rot-from-one",
        edit("positions[..., None]", "(positions[..., None] + 1)"),
        says="positions are counted from 1",
        asks="Which angles should position 0 have?",
    ),
    mistake(
        "rot-counts-instead",
        edit("positions[..., None]", "torch.arange(positions.shape[-1], device=positions.device)[:, None]"),
        edit("* speeds)", "* speeds).expand(*positions.shape, -1)"),
        says="the angles belong to the positions 0, 1, 2, …, whatever positions are passed",
        asks="Where does your code use the positions?",
    ),
    mistake(
        "rot-one-speed",
        edit(SPEEDS, "speeds = torch.ones(d // 2, dtype=torch.float64, device=positions.device)"),
        says="all pairs turn as fast as the first",
        asks="How much slower than the first should the second pair turn?",
    ),
    mistake(
        "rot-faster-and-faster",
        edit(SPEEDS, "speeds = base ** (even.double() / d)"),
        says="later pairs turn faster instead of slower: the exponent has the wrong sign",
        asks="Which pair should be the slowest?",
    ),
    mistake(
        "rot-slowest-first",
        edit(SPEEDS, "speeds = base ** (-even.double() / d).flip(0)"),
        says="the pairs are in the opposite order: the slowest comes first",
        asks="Which pair should turn by one radian per step?",
    ),
    mistake(
        "rot-never-still",
        edit(SPEEDS, "speeds = base ** (-(even.double() + 2) / d)"),
        says="the exponents begin with that of the second pair",
        asks="By how much should the first pair turn in one step?",
    ),
    mistake(
        "rot-degrees",
        edit("* speeds).float()", "* speeds).deg2rad().float()"),
        says="the angles are converted as if they were in degrees",
        asks="In which unit does the cosine of PyTorch take its angle?",
    ),
    mistake(
        "rot-odd-accepted",
        edit("if d % 2:", "if False:"),
        says="an odd number of features raises no error",
        asks="What would the last feature be paired with?",
    ),
    mistake(
        "rot-twice",
        edit("* speeds).float()", "* speeds.repeat_interleave(2)).float()"),
        says="each angle occurs twice, once for each feature of its pair",
        asks="How many angles does the exercise ask for?",
        kind="different",
    ),
    mistake(
        "rot-halves-twice",
        edit("* speeds).float()", "* speeds.repeat(2)).float()"),
        says="the angles occur twice, as for pairs of halves",
        asks="How many angles does the exercise ask for?",
        kind="different",
    ),
    mistake(
        "rot-modulo",
        edit("* speeds).float()", "* speeds).remainder(2 * math.pi).float()"),
        says="full turns are left out of the angles",
        asks="Which angle has position 7 in the first pair?",
        kind="different",
    ),
    mistake(
        "rot-last-too-slow",
        edit(
            SPEEDS,
            "speeds = base ** -torch.linspace(0, 1, d // 2, dtype=torch.float64, device=positions.device)",
        ),
        says="the exponents reach 1 at the last pair, so it has the speed of a pair that is not there any more",
        asks="Which exponent has the last of three pairs?",
    ),
    mistake(
        "rot-whole-numbers",
        edit("* speeds).float()", "* speeds).to(positions.dtype)"),
        says="the angles are rounded to whole numbers",
        asks="Which dtype has your result?",
    ),
    mistake(
        "rot-odd-another-error",
        edit('raise ValueError(f"{d} features are no pairs")', 'raise AssertionError("odd")'),
        says="an odd number of features raises another exception than a ValueError",
        asks="Which exception does the docstring promise?",
    ),
]
