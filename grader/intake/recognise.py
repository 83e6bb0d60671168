"""Recognise the exercises that a submission defines, and code that is none of them but may be meant as one."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from itertools import islice

from grader.given import BLOCKS
from grader.intake.meanings import meaning
from grader.intake.names import Definition, Names, plain, words_of

# Exercise → other names that much code uses for it, as `plain` writes them: they are graded.
ALIASES = {
    "MultiHeadAttention": "multiheadedattention",
    "EncoderBlock": "transformerencoderblock",  # of edition 1.x of the book
    "DecoderBlock": "transformerdecoderblock",
    "apply_rotary": "applyrotaryemb applyrotaryposemb applyrotaryembedding applyrope",
    "RotaryAttention": "rotarymultiheadattention ropeattention",
    "CachedSelfAttention": "kvcacheattention",
    "LanguageModel": "gpt transformerlm",
    "GroupedQueryAttention": "groupqueryattention",
    "merge_state": "mergestates mergeattnstates",
    "tiled_attention": "flashattention flashattentionforward",
    "tiled_attention_backward": "flashattentionbackward",
    "top_k_top_p_filtering": "topktoppfilter",
    "speculative_generate": "speculativesampling speculativedecoding",
}
# Exercise → names of code with the same job. Much of it has another form: it is graded if that is the form of a school.
SAME_JOB = {
    "AdditiveAttention": "mlpattention bahdanauattention concatattention",
    "DotProductAttention": "attention dotattention scaledattention attentionhead scaleddotproduct"
    " scaleddotproductattention",
    "MultiHeadAttention": "multiheadattentionlayer multiheadattentionblock multiheadselfattention multiheadedselfattention"
    " mha causalselfattention casualselfattention causualselfattention maskedselfattention selfattention"
    " standardselfattention crossattention attention",
    "PositionalEncoding": "positionencoding positionalencoder positionalembedding positionalembeddings positionembedding"
    " positionlayer positionallayer sinusoidalpositionalembedding getpositionalencoding getpositionencoding",
    "TokenEmbedding": "tokenembeddings embeddings inputembedding inputembeddings",
    "AddNorm": "addandnorm sublayerconnection residualconnection",
    "PositionWiseFFN": "feedforward feedfoward positionwisefeedforward poswisefeedforwardnet feedforwardblock"
    " feedforwardnetwork pointwisefeedforwardnetwork positionfeedforward mlp ffn",
    "EncoderBlock": "encoderlayer transformerencoderlayer transformerblock vitblock",
    "DecoderBlock": "decoderlayer transformerdecoderlayer",
    "TransformerEncoder": "encoder",
    "TransformerDecoder": "decoder",
    "Seq2SeqAttentionDecoder": "bahdanaudecoder attentiondecoder attndecoder attndecoderrnn",
}
# Words of designs that the course does not ask for: such code is never meant as an exercise.
DESIGNS = ("adaptive", "learn", "relative", "rotary")
# Much other code uses these names: they mean an exercise only together with its parameters.
COMMON = frozenset(
    {"train", "greedy_decode", "TokenEmbedding", "generate", "SwiGLU", "LanguageModel", "write_text"}
)
# Broken classes that a lesson shows. Other code is never meant as one of them.
REPAIRS = frozenset({"MixedUpAttention", "TangledSelfAttention", "TransparentSelfAttention", "MixedRotary"})
VERSION = re.compile(r"(?<!\d)v?\d++$")  # of a class that a file defines several times
# Words that say what a class is for.
FAMILIES = ("attention", "encoding", "embedding", "norm", "ffn", "encoder", "decoder")
WORDS = ("attention", "attn", "transformer", "softmax", "mask", "position", "feedforward")
WORDS_OF_ATTENTION = ("attention", "attn", "numhead", "nhead")  # in a class with attention
MOST_COMPARED = 100  # names that `misspelt` compares, and definitions of one file


def match(
    contracts: Mapping[str, Definition],
    names: Names,
    fits_school: Callable[[str, str], bool] = lambda _exercise, _name: False,
) -> dict[str, str]:
    """Return exercise → its name in the submission: its own name, else one that differs only in case and underscores,
    else a customary alias, else a class with the same job that has the form of a school.

    contracts: exercise → its definition in the original stub. fits_school: whether, for an exercise, the class of a name
    has such a form.
    """
    spelt: dict[str, list[Definition]] = {}
    versions: dict[str, list[Definition]] = {}
    for definition in names.definitions.values():
        spelling = plain(definition.name)
        spelt.setdefault(spelling, []).append(definition)
        versions.setdefault(VERSION.sub("", spelling), []).append(definition)
    found: dict[str, str] = {}
    for exercise, stub in contracts.items():
        for spelling in (plain(exercise), *ALIASES.get(exercise, "").split()):
            fitting = [one.name for one in spelt.get(spelling, ()) if _fits(exercise, stub, one)]
            if fitting:  # of several, the last definition counts
                found.setdefault(exercise, exercise if exercise in fitting else fitting[-1])
        for spelling in (plain(exercise), *SAME_JOB.get(exercise, "").split()):
            fitting = [one.name for one in versions.get(spelling, ()) if fits_school(exercise, one.name)]
            if fitting:
                found.setdefault(exercise, fitting[-1])
    return found


def _fits(exercise: str, stub: Definition, found: Definition) -> bool:
    """Whether a definition is of the stub's kind, and for a common name, takes as many parameters.

    Of a function with a common name, also half of the names of its parameters must be those of the stub.
    """
    asked, own = stub.parameters, found.parameters
    if found.name != exercise and found.kind != stub.kind:
        return False
    if exercise not in COMMON or not asked or (found.kind == "class" and not own):
        return True
    is_enough = found.kind == "class" or (own and 2 * len(asked.names & own.names) >= len(asked.names))
    return bool(is_enough and own and own.accepts(len(asked.names)))


def misspelt(name: str, names: Iterable[str]) -> str:
    """Return the one of `names` that is nearly `name`, for a hint; "" if there is none."""
    return next(iter(get_close_matches(name[:100], islice(names, MOST_COMPARED), n=1, cutoff=0.9)), "")


def lost_exercises(exercises: Iterable[str], names: Names) -> dict[str, str]:
    """Return exercise → its name, for those whose definitions Python cannot read."""
    spelt = {plain(name): name for name in reversed(names.lost)}  # of several, the first counts
    return {name: spelt[plain(name)] for name in exercises if name not in COMMON and plain(name) in spelt}


@dataclass(frozen=True)
class NotGraded:
    """A definition that was not graded.

    meant: the exercise that the definition may be meant as; "" if none is known.
    taken: the other definition of the file that was taken for the exercise `meant`, if this definition has the name of
    the exercise, too; "" if none was taken; None if the definition has another name.
    """

    definition: Definition
    meant: str = ""
    taken: str | None = None


def not_graded(
    found: Mapping[str, str], graded: Collection[str], contracts: Mapping[str, Definition], names: Names
) -> list[NotGraded]:
    """Return classes with the parameters of an exercise and attention code that were not graded, in their order.

    found: what `match` returns. graded: the exercises in `found` whose interface is that of the course.
    """
    taken = {found[name] for name in graded}
    others = [d for d in names.definitions.values() if d.kind != "name" and d.name not in taken]
    attends = _with_attention(names) - {*found.values()}
    out: list[NotGraded] = []
    for definition in others:
        one = _compared(definition, found, contracts if len(out) < MOST_COMPARED else {})
        if one or definition.name in attends:
            out.append(one or NotGraded(definition))
    return out


def _with_attention(names: Names) -> set[str]:
    """Return the classes in whose code attention occurs, or a class of which this is true."""
    words = {d.name: words_of(names, d.name) for d in names.definitions.values() if d.forward}
    found = {
        name for name, own in words.items() if any(word in w for word in WORDS_OF_ATTENTION for w in own)
    }
    for _step in range(3):
        known = {plain(name) for name in found}
        found |= {name for name, own in words.items() if own & known}
    return found


def _compared(
    definition: Definition, found: Mapping[str, str], contracts: Mapping[str, Definition]
) -> NotGraded | None:
    """Return a definition with what it may be meant as, other than what it was taken for; None for other code."""
    name = definition.name
    taken_for = {exercise for exercise, alias in found.items() if alias == name}
    others = {exercise: stub for exercise, stub in contracts.items() if exercise not in taken_for | REPAIRS}
    like = next((exercise for exercise, stub in others.items() if _is_like(exercise, stub, definition)), "")
    if like or taken_for:
        return NotGraded(definition, like) if like else None
    same_name = next((exercise for exercise in contracts if plain(exercise) == plain(name)), "")
    if same_name:
        return NotGraded(definition, same_name, taken=found.get(same_name, ""))
    if name in BLOCKS or (definition.kind == "class" and not definition.forward):
        return None
    meant = _meant(definition, contracts)
    is_of_the_kind = any(word in plain(name) for word in (*FAMILIES, *WORDS))
    return NotGraded(definition, meant) if meant or is_of_the_kind else None


def _is_like(exercise: str, stub: Definition, found: Definition) -> bool:
    """Whether a class takes exactly the parameters of an exercise, and its `forward` as many arguments.

    The words of FAMILIES in its name must be those of the exercise, too: of `Seq2SeqDecoder` only "decoder".
    """
    wanted, own = ({word for word in FAMILIES if word in plain(name)} for name in (exercise, found.name))
    takes, asked, forward = found.parameters, stub.parameters, found.forward
    if found.kind != "class" or (wanted and own and wanted != own):
        return False
    same = takes is not None and asked is not None and takes.names == asked.names
    return bool(same and stub.forward and forward and forward.accepts(len(stub.forward.names)))


def _meant(found: Definition, contracts: Mapping[str, Definition]) -> str:
    """Return the exercise with the same job; else one whose name is part of the name; else one of a similar name."""
    others = [e for e, stub in contracts.items() if stub.kind == found.kind and e not in COMMON | REPAIRS]
    named = plain(found.name)
    if any(word in named for word in DESIGNS):
        return ""
    job = [exercise for exercise in contracts if named in SAME_JOB.get(exercise, "").split()]
    if found.parameters and any(meaning(name) == "heads" for name in found.parameters.names):
        job = [exercise for exercise in job if exercise != "DotProductAttention"]
    part = [exercise for exercise in others if plain(exercise) in named]
    return next(iter((*job, *part)), "") or misspelt(found.name, others)
