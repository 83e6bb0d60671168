"""Known mistakes in shift_matrix; their pages are in shift_matrix.md."""

from grader.authoring import edit, mistake

MISTAKES = [
    mistake(
        "shift-backwards",
        edit("M[even, odd] = angles.sin()", "M[even, odd] = -angles.sin()"),
        edit("M[odd, even] = -angles.sin()", "M[odd, even] = angles.sin()"),
        says="your matrix moves back by as many steps as it should move on",
        asks="Which of the two sines carries the minus sign in the second theorem?",
    ),
    mistake(
        "shift-no-minus",
        edit("M[odd, even] = -angles.sin()", "M[odd, even] = angles.sin()"),
        says="both sines carry the same sign: this is no turn",
        asks="In one of the two theorems there is a minus. Where is it in your matrix?",
    ),
    mistake(
        "shift-mirrored",
        edit("M[odd, even] = -angles.sin()", "M[odd, even] = angles.sin()"),
        edit("M[odd, odd] = angles.cos()", "M[odd, odd] = -angles.cos()"),
        says="each pair is mirrored instead of turned",
        asks="Apply your matrix twice with one step each. Are you two steps further, or back where you were?",
    ),
    mistake(
        "shift-sine-cosine-exchanged",
        edit("M[even, even] = angles.cos()", "M[even, even] = angles.sin()"),
        edit("M[odd, odd] = angles.cos()", "M[odd, odd] = angles.sin()"),
        edit("M[even, odd] = angles.sin()", "M[even, odd] = angles.cos()"),
        edit("M[odd, even] = -angles.sin()", "M[odd, even] = -angles.cos()"),
        says="sine and cosine have changed places",
        asks="With no step at all, which matrix should come out?",
    ),
    mistake(
        "shift-rows-exchanged",
        edit("M[even, even] = angles.cos()", "M[even, even] = -angles.sin()"),
        edit("M[even, odd] = angles.sin()", "M[even, odd] = angles.cos()"),
        edit("M[odd, even] = -angles.sin()", "M[odd, even] = angles.cos()"),
        edit("M[odd, odd] = angles.cos()", "M[odd, odd] = angles.sin()"),
        says="the two rows of each pair have changed places: new cosines land where sines should stand",
        asks="Which feature should the first row of a pair produce?",
    ),
    mistake(
        "shift-columns-exchanged",
        edit("M[even, even] = angles.cos()", "M[even, even] = angles.sin()"),
        edit("M[even, odd] = angles.sin()", "M[even, odd] = angles.cos()"),
        edit("M[odd, even] = -angles.sin()", "M[odd, even] = angles.cos()"),
        edit("M[odd, odd] = angles.cos()", "M[odd, odd] = -angles.sin()"),
        says="the two columns of each pair have changed places: sines are read where cosines stand",
        asks="With which feature of the old position is the first column of a pair multiplied?",
    ),
    mistake(
        "shift-layout-exchanged",
        edit("even = torch.arange(0, num_hiddens, 2)", "even = torch.arange(1, num_hiddens, 2)"),
        edit("odd = even + 1", "odd = even - 1"),
        edit("(even.double()", "(odd.double()"),
        says="cosines are taken to stand in the even columns, and sines in the odd ones",
        asks="What does position 0 look like in the table: zeros and ones in which columns?",
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
        asks="Which two features make up the first hand of the clock in this course?",
        kind="different",
    ),
    mistake(
        "shift-exponent-counts-pairs",
        edit(
            "angles = delta / 10000 ** (even.double() / num_hiddens)",
            "angles = delta / 10000 ** (even.double() / 2 / num_hiddens)",
        ),
        says="the exponent counts the pairs instead of twice the pairs: slow hands turn too far",
        asks="For the last pair, what is your exponent?",
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
        says="every pair is turned by the angle of the first one",
        asks="Do all hands of the clock turn equally far in one step?",
    ),
    mistake(
        "shift-always-one-step",
        edit(
            "angles = delta / 10000 ** (even.double() / num_hiddens)",
            "angles = 1 / 10000 ** (even.double() / num_hiddens)",
        ),
        says="the matrix moves by one step, however many were asked for",
        asks="Where does the number of steps enter?",
    ),
    mistake(
        "shift-never-back",
        edit(
            "angles = delta / 10000 ** (even.double() / num_hiddens)",
            "angles = abs(delta) / 10000 ** (even.double() / num_hiddens)",
        ),
        says="a negative number of steps is taken for a positive one",
        asks="What should three steps on and then three steps back give?",
    ),
    mistake(
        "shift-degrees",
        edit(
            "angles = delta / 10000 ** (even.double() / num_hiddens)",
            "angles = torch.deg2rad(delta / 10000 ** (even.double() / num_hiddens))",
        ),
        says="angles are taken for degrees and turned into radians",
        asks="By how much does the first hand turn in one step?",
    ),
    mistake(
        "shift-small-angles",
        edit("M[even, even] = angles.cos()", "M[even, even] = 1"),
        edit("M[odd, odd] = angles.cos()", "M[odd, odd] = 1"),
        edit("M[even, odd] = angles.sin()", "M[even, odd] = angles"),
        edit("M[odd, even] = -angles.sin()", "M[odd, even] = -angles"),
        says="angles are taken to be so small that the sine is the angle and the cosine is one",
        asks="How large is the angle of the first pair after one step?",
    ),
    mistake(
        "shift-only-cosines",
        edit("M[even, odd] = angles.sin()", "pass"),
        edit("M[odd, even] = -angles.sin()", "pass"),
        says="every feature is multiplied by a cosine, and the two of a pair never meet",
        asks="At position 0 all sines are zero. How could multiplying them make them anything else?",
    ),
    mistake(
        "shift-stands-still",
        """
            def shift_matrix(delta, num_hiddens):
                return torch.eye(num_hiddens)
            """,
        says="the matrix is the identity: it moves nothing",
        asks="What do position 0 and position 1 look like? What must happen to the one to become the other?",
    ),
    mistake(
        "shift-moves-features",
        """
            def shift_matrix(delta, num_hiddens):
                return torch.eye(num_hiddens).roll(delta, dims=0)
            """,
        says="the features are moved along the vector, instead of the position along the table",
        asks="What is moved by some steps: the numbers within a row, or the row's place in the table?",
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
        says="the matrix is made of two positions, and is good for the first one only, up to its length",
        asks="Try it on position 7. Which position comes out?",
    ),
    mistake(
        "shift-one-number-per-pair",
        """
            def shift_matrix(delta, num_hiddens):
                return torch.diag(torch.cos(delta / 10000 ** (torch.arange(0, num_hiddens, 2).double() / num_hiddens)))
            """,
        says="the matrix has one row for each pair, instead of one for each feature",
        asks="Which shape must a matrix have to be multiplied with a row of the table?",
    ),
]
