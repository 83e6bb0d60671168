"""Known mistakes in shift_matrix; their pages are in shift_matrix.md."""

from grader.authoring import edit, mistake

MISTAKES = [
    mistake(
        "shift-backwards",
        edit("M[even, odd] = angles.sin()", "M[even, odd] = -angles.sin()"),
        edit("M[odd, even] = -angles.sin()", "M[odd, even] = angles.sin()"),
        says="your matrix shifts back by as many positions as it should shift forward",
        asks="Which of the two sines has the minus sign in the second theorem?",
    ),
    mistake(
        "shift-no-minus",
        edit("M[odd, even] = -angles.sin()", "M[odd, even] = angles.sin()"),
        says="both sines have the same sign: this is not a rotation",
        asks="One of the two theorems has a minus sign. Where is it in your matrix?",
    ),
    mistake(
        "shift-mirrored",
        edit("M[odd, even] = -angles.sin()", "M[odd, even] = angles.sin()"),
        edit("M[odd, odd] = angles.cos()", "M[odd, odd] = -angles.cos()"),
        says="each pair is mirrored instead of rotated",
        asks="Apply your matrix for a shift of one twice. Is the result a shift of two or a shift of zero?",
    ),
    mistake(
        "shift-sine-cosine-exchanged",
        edit("M[even, even] = angles.cos()", "M[even, even] = angles.sin()"),
        edit("M[odd, odd] = angles.cos()", "M[odd, odd] = angles.sin()"),
        edit("M[even, odd] = angles.sin()", "M[even, odd] = angles.cos()"),
        edit("M[odd, even] = -angles.sin()", "M[odd, even] = -angles.cos()"),
        says="sine and cosine are swapped",
        asks="For a shift of zero, which matrix should be returned?",
    ),
    mistake(
        "shift-rows-exchanged",
        edit("M[even, even] = angles.cos()", "M[even, even] = -angles.sin()"),
        edit("M[even, odd] = angles.sin()", "M[even, odd] = angles.cos()"),
        edit("M[odd, even] = -angles.sin()", "M[odd, even] = angles.cos()"),
        edit("M[odd, odd] = angles.cos()", "M[odd, odd] = angles.sin()"),
        says="the two rows of each pair are swapped: the new cosines are in the rows of the sines",
        asks="Which feature should the first row of a pair produce?",
    ),
    mistake(
        "shift-columns-exchanged",
        edit("M[even, even] = angles.cos()", "M[even, even] = angles.sin()"),
        edit("M[even, odd] = angles.sin()", "M[even, odd] = angles.cos()"),
        edit("M[odd, even] = -angles.sin()", "M[odd, even] = angles.cos()"),
        edit("M[odd, odd] = angles.cos()", "M[odd, odd] = -angles.sin()"),
        says=(
            "the two columns of each pair are swapped: the factors of the sines are in the columns of the "
            "cosines"
        ),
        asks="Which feature of the old position is multiplied by the first column of a pair?",
    ),
    mistake(
        "shift-layout-exchanged",
        edit("even = torch.arange(0, num_hiddens, 2)", "even = torch.arange(1, num_hiddens, 2)"),
        edit("odd = even + 1", "odd = even - 1"),
        edit("(even.double()", "(odd.double()"),
        says="the matrix fits a table with cosines in the even columns and sines in the odd ones",
        asks="At position 0, which columns of the table are zero and which are one?",
    ),
    mistake(
        "shift-halves",
        edit("odd = even + 1", "odd = even // 2 + num_hiddens // 2"),
        edit(
            "M = torch.zeros",
            """
            even = even // 2
            M = torch.zeros
            """,
        ),
        says="the matrix fits a table with all sines first and then all cosines",
        asks="Which two features form the first pair in this course?",
        kind="different",
    ),
    mistake(
        "shift-exponent-counts-pairs",
        edit(
            "angles = delta / 10000 ** (even.double() / num_hiddens)",
            "angles = delta / 10000 ** (even.double() / 2 / num_hiddens)",
        ),
        says=(
            "the exponent counts the pairs instead of twice the pairs, so the slow pairs are rotated too far"
        ),
        asks="What is your exponent for the last pair?",
    ),
    mistake(
        "shift-base-thousand",
        edit(
            "angles = delta / 10000 ** (even.double() / num_hiddens)",
            "angles = delta / 1000 ** (even.double() / num_hiddens)",
        ),
        says="the base of the frequencies is a thousand instead of ten thousand",
        asks="How many zeros does the base have in the lesson?",
    ),
    mistake(
        "shift-one-speed",
        edit(
            "angles = delta / 10000 ** (even.double() / num_hiddens)",
            "angles = torch.full((num_hiddens // 2,), float(delta), dtype=torch.float64)",
        ),
        says="every pair is rotated by the angle of the first one",
        asks="Do all pairs rotate by the same angle in one step?",
    ),
    mistake(
        "shift-always-one-step",
        edit(
            "angles = delta / 10000 ** (even.double() / num_hiddens)",
            "angles = 1 / 10000 ** (even.double() / num_hiddens)",
        ),
        says="the matrix always shifts by one position: the requested shift is ignored",
        asks="Where does your code use the number of steps?",
    ),
    mistake(
        "shift-never-back",
        edit(
            "angles = delta / 10000 ** (even.double() / num_hiddens)",
            "angles = abs(delta) / 10000 ** (even.double() / num_hiddens)",
        ),
        says="a negative shift is treated as a positive one",
        asks="What should a shift of three and then a shift of minus three give?",
    ),
    mistake(
        "shift-degrees",
        edit(
            "angles = delta / 10000 ** (even.double() / num_hiddens)",
            "angles = torch.deg2rad(delta / 10000 ** (even.double() / num_hiddens))",
        ),
        says="the angles are treated as degrees and converted into radians",
        asks="By which angle does the first pair rotate in one step?",
    ),
    mistake(
        "shift-small-angles",
        edit("M[even, even] = angles.cos()", "M[even, even] = 1"),
        edit("M[odd, odd] = angles.cos()", "M[odd, odd] = 1"),
        edit("M[even, odd] = angles.sin()", "M[even, odd] = angles"),
        edit("M[odd, even] = -angles.sin()", "M[odd, even] = -angles"),
        says="the angles are assumed to be so small that the sine is the angle and the cosine is one",
        asks="How large is the angle of the first pair after one step?",
    ),
    mistake(
        "shift-only-cosines",
        edit("M[even, odd] = angles.sin()", "pass"),
        edit("M[odd, even] = -angles.sin()", "pass"),
        says="every feature is only multiplied by a cosine: the two features of a pair are never mixed",
        asks="At position 0 all sines are zero. Can a factor make them anything else?",
    ),
    mistake(
        "shift-always-identity",
        """
            def shift_matrix(delta, num_hiddens):
                return torch.eye(num_hiddens)
            """,
        says="the matrix is always the identity",
        asks="Compare position 0 and position 1 in the table. Which values change?",
    ),
    mistake(
        "shift-moves-features",
        """
            def shift_matrix(delta, num_hiddens):
                return torch.eye(num_hiddens).roll(delta, dims=0)
            """,
        says="the features are moved along the vector, instead of the position along the table",
        asks="What does a shift of the position change: the order of the features, or the index of the row?",
    ),
    mistake(
        "shift-fits-first-position",
        """
            def shift_matrix(delta, num_hiddens):
                speeds = 10000 ** (-torch.arange(0, num_hiddens, 2).double() / num_hiddens)
                start = torch.stack([torch.zeros_like(speeds), torch.ones_like(speeds)], dim=1).flatten()
                there = torch.stack([(delta * speeds).sin(), (delta * speeds).cos()], dim=1).flatten()
                return torch.outer(there, start)
            """,
        says=(
            "the matrix is an outer product of two positions, and is right for position 0 only, up to a "
            "factor"
        ),
        asks="Multiply position 7 by your matrix. Which position is the result?",
    ),
    mistake(
        "shift-one-number-per-pair",
        """
            def shift_matrix(delta, num_hiddens):
                return torch.diag(torch.cos(delta / 10000 ** (torch.arange(0, num_hiddens, 2).double() / num_hiddens)))
            """,
        says="the matrix has one row per pair, instead of one row per feature",
        asks="Which shape must a matrix have to be multiplied by a row of the table?",
    ),
    mistake(
        "shift-whole-numbers",
        edit(
            "torch.zeros(num_hiddens, num_hiddens, dtype=torch.float64)",
            "torch.zeros(num_hiddens, num_hiddens, dtype=torch.long)",
        ),
        edit("return M.to(torch.get_default_dtype())", "return M"),
        says="the matrix holds whole numbers, so every sine and cosine is cut to -1, 0 or 1",
        asks="Which dtype does your matrix have from the beginning?",
        forms=[
            [
                edit("even.double()", "even.float()"),
                edit(
                    "torch.zeros(num_hiddens, num_hiddens, dtype=torch.float64)",
                    "torch.zeros(num_hiddens, num_hiddens, dtype=torch.long)",
                ),
                edit("return M.to(torch.get_default_dtype())", "return M"),
            ]
        ],
    ),
    mistake(
        "shift-pairs-overlap",
        edit(
            "even = torch.arange(0, num_hiddens, 2)",
            "even = 2 * torch.arange(num_hiddens // 2)\n    row = torch.arange(num_hiddens // 2)",
        ),
        edit("M[even, even] = angles.cos()", "M[row, row] = angles.cos()"),
        edit("M[even, odd] = angles.sin()", "M[row, row + 1] = angles.sin()"),
        edit("M[odd, even] = -angles.sin()", "M[row + 1, row] = -angles.sin()"),
        edit("M[odd, odd] = angles.cos()", "M[row + 1, row + 1] = angles.cos()"),
        says="pair j is written at the rows j and j + 1, so the pairs overlap",
        asks="At which row does the second pair of columns begin?",
    ),
]
