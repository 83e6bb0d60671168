"""Cases for the capstone: a training loop, the accuracy of its weights, and greedy decoding.

docs/capstone.md has the success rates of each task, over seeds and learning rates.
"""

from functools import cache

import numpy as np
import torch

from grader.authoring import Case, block_arguments, blocks, weights

PAD, BOS, EOS, FIRST = 0, 1, 2, 3  # ordinary words begin at FIRST
HEADS = 4

MODEL = """
from grader.given import EncoderDecoder, TransformerDecoder, TransformerEncoder


class Model(EncoderDecoder):
    def __init__(self, **sizes):
        super().__init__(TransformerEncoder(**sizes), TransformerDecoder(**sizes))

    def begin(self, src, src_valid_len):
        return self.decoder.init_state(self.encoder(src, src_valid_len), src_valid_len)

    def step(self, words, state):
        return self.decoder(words, state)
"""

# A model that notes for each sentence the inputs of the decoder and the labels of the loss. It reads the
# labels from the gradient of the scores. So the order of sentences, the loss function and the optimizer do
# not matter. It also notes the mode, the weight updates, and whether gradients were cleared.
WATCHED = '''
import torch
from torch.optim.optimizer import register_optimizer_step_post_hook

from grader.given import EncoderDecoder, TransformerDecoder, TransformerEncoder

NEVER, NOTHING = -2, -1


class Watched(EncoderDecoder):
    def __init__(self, sources, lens, width, **sizes):
        super().__init__(TransformerEncoder(**sizes), TransformerDecoder(**sizes))
        self.sources, self.real = torch.tensor(sources), torch.tensor(lens) - 1
        shape = (len(sources), width)
        self.notes = {"fed": torch.full(shape, NEVER), "aims": torch.full(shape, NEVER)}
        self.notes |= {"beyond": torch.full(shape, NEVER), "lens": torch.full(shape[:1], NEVER)}
        self.read = torch.full_like(self.sources, NEVER)
        self.modes, self.updates, self.fresh, self.has_optimizer = [], 0, True, False
        self.rows, self.before, self.sum = [], None, 0
        self.first, self.moved = [], set()
        self.encoder.register_forward_pre_hook(self.encoder_called, with_kwargs=True)
        self.decoder.register_forward_hook(self.decoder_called)
        self.bias = [self.decoder.dense.bias]
        self.bias[0].register_hook(self.bias_gradient)
        self.bias[0].register_post_accumulate_grad_hook(self.gradient_added)
        register_optimizer_step_post_hook(self.optimizer_stepped)

    def encoder_called(self, encoder, args, kwargs):
        X, lens = args[0], args[1] if len(args) > 1 else kwargs.get("valid_lens")
        self.note_changes()
        self.rows = [self.row_of(x) for x in X]
        for place, row in enumerate(self.rows):
            if row is not None:
                self.notes["lens"][row] = NOTHING if lens is None else int(lens[place])
                self.read[row] = self.sources[row]

    def note_changes(self):
        """Note which weights have ever changed. A training may restore the first ones at its end."""
        now = [p.detach() for p in self.parameters()]
        self.first = self.first or [p.clone() for p in now]
        self.moved |= {i for i, (a, b) in enumerate(zip(self.first, now)) if not torch.equal(a, b)}

    def row_of(self, x):
        found = [r for r, source in enumerate(self.sources) if x.shape == source.shape and bool((x == source).all())]
        return found[0] if found else None

    def decoder_called(self, decoder, args, result):
        scores, words, rows = result[0], args[0], list(self.rows)
        if not scores.requires_grad:
            return
        self.modes.append(self.training and self.encoder.training and self.decoder.training)
        self.note("fed", rows, words, lambda real, t: t < real)
        scores.register_hook(lambda grad: self.gradient_arrived(rows, grad))

    def gradient_arrived(self, rows, grad):
        labels = torch.where(grad.abs().amax(-1) > 0, grad.argmin(-1), NOTHING)
        self.note("aims", rows, labels, lambda real, t: t < real)
        self.note("beyond", rows, labels, lambda real, t: t >= real)

    def note(self, name, rows, values, counts):
        noted = self.notes[name]
        for row, line in zip(rows, values):
            if row is None or bool((noted[row] != NEVER).any()):
                continue
            noted[row] = NOTHING
            for t, value in enumerate(line[: noted.shape[1]]):
                if counts(self.real[row], t):
                    noted[row, t] = value

    def bias_gradient(self, grad):
        if self.changed_by_hand():
            self.count_update()
        self.before = self.bias[0].detach().clone()
        self.sum = self.sum + grad

    def gradient_added(self, bias):
        self.fresh = self.fresh and bool(torch.allclose(bias.grad, self.sum, atol=1e-6))

    def optimizer_stepped(self, optimizer, args, kwargs):
        watches = any(p is self.bias[0] for group in optimizer.param_groups for p in group["params"])
        if watches and self.bias[0].grad is not None:
            self.has_optimizer = True
            self.count_update()
            self.before = self.bias[0].detach().clone()

    def count_update(self):
        self.updates, self.sum = self.updates + 1, 0

    def changed_by_hand(self):
        """Whether a training without an optimizer has changed the weights.

        With an optimizer, another change is no step: the training averages or restores weights.
        """
        moved = self.before is not None and not torch.equal(self.bias[0], self.before)
        return moved and not self.has_optimizer

    def evidence(self, holds):
        """Return the sources that the training passed to the model if `holds`, else NEVER.

        So an answer that never trains cannot make up the result.
        """
        return self.read if holds else torch.full_like(self.read, NEVER)

    def __getitem__(self, name):
        if name == "updates":
            return self.updates + self.changed_by_hand()
        if name == "all moved":
            self.note_changes()
            return self.evidence(len(self.moved) == len(self.first))
        if name == "fresh":
            return self.evidence(self.fresh)
        if name == "training":
            return self.evidence(bool(self.modes) and all(self.modes))
        return self.notes[name]
'''

# Counts how many words the decoder gets at a time.
COUNTING = """
from grader.given import EncoderDecoder, TransformerDecoder, TransformerEncoder


class Counting(EncoderDecoder):
    def __init__(self, **sizes):
        super().__init__(TransformerEncoder(**sizes), TransformerDecoder(**sizes))
        self.most = 0
        self.decoder.register_forward_pre_hook(self.count)

    def count(self, decoder, args):
        self.most = max(self.most, args[0].shape[1])

    def __getitem__(self, name):
        return self.most
"""


# ---- tasks: src (N, S), src_valid_len (N,), tgt (N, T + 1), tgt_valid_len (N,)


def reverse(draw, count, vocabulary, low, high, table):
    """Draw sentences of `low` to `high` words.

    The target: in reverse, each word replaced by its `table` entry.
    """
    lens = draw.integers(low, high, count)
    words = draw.integers(FIRST, vocabulary - 1, count, high)
    return sequences(
        [(row[:n], table[row[:n][::-1]]) for row, n in zip(words, lens, strict=True)], high + 1, high + 2
    )


def induction(draw, count, vocabulary, low, high, table=None):
    """Draw sentences of `low` to `high` words, and again one of the words that occur once. `table` is not used.

    Neighbours differ; other words may occur again, mostly with other followers.
    The target: the sentence from that word on, which is followed by at least two words.
    """
    several = 4 * count  # some sentences have no such word
    words = draw.integers(1, vocabulary - FIRST - 1, several, high)  # from one word to the next
    words[:, 0] = draw.integers(0, vocabulary - FIRST - 1, several)
    words = words.cumsum(axis=1) % (vocabulary - FIRST) + FIRST
    pairs = []
    for row, n, number in zip(
        words, draw.integers(low, high, several), draw.integers(0, 10**6, several), strict=True
    ):
        row = row[:n]
        once = [p for p in range(n - 2) if (row == row[p]).sum() == 1]
        if once:
            place = once[number % len(once)]
            pairs.append((np.append(row, row[place]), row[place:]))
    assert len(pairs) >= count, "too few sentences have a word that occurs once"
    return sequences(pairs[:count], high + 2, high + 2)


def sequences(pairs, source_width, target_width):
    """Return the four arrays of a task.

    A source ends with EOS; a target starts with BOS and ends with EOS.
    """
    count = len(pairs)
    src, tgt = (np.full((count, width), PAD) for width in (source_width, target_width))
    lens = np.array([[len(source) + 1, len(target) + 2] for source, target in pairs])
    for i, (source, target) in enumerate(pairs):
        src[i, : len(source) + 1] = [*source, EOS]
        tgt[i, : len(target) + 2] = [BOS, *target, EOS]
    return src, lens[:, 0], tgt, lens[:, 1]


def lookup(draw, vocabulary):
    """Return a table: the target word of each source word."""
    return np.array([PAD, BOS, EOS, *draw.sizes(vocabulary - FIRST, FIRST, vocabulary - 1)])


def unseen(task, draw, known, count, *sizes):
    """Return `count` sequences whose sources do not occur in `known`."""
    seen = {row.tobytes() for row in known[0]}
    drawn = task(draw, 16 * count, *sizes)  # 16 times as many, because some are in `known`
    fresh = [i for i, row in enumerate(drawn[0]) if row.tobytes() not in seen][:count]
    assert len(fresh) == count, "too few new sequences: the training data holds nearly all"
    return [column[fresh] for column in drawn]


# ---- models


def sizes_of(vocabulary, D, dropout=0.0):
    return {"vocab_size": vocabulary, **block_arguments(D, HEADS, 2 * D, dropout), "num_layers": 1}


def drawn_weights(draw, vocabulary, D):
    """Return random weights for a model that is not trained; none has its default value."""
    out = {"embedding.weight": draw.normal(vocabulary, D, std=D**-0.5)}
    out |= weights.encoder_block(draw, D, 2 * D, prefix="blks.block0.")
    decoder = weights.transformer_decoder(draw, vocabulary, D, 2 * D, 1)
    return {f"encoder.{name}": w for name, w in out.items()} | {
        f"decoder.{name}": w for name, w in decoder.items()
    }


def untrained(draw, vocabulary, D):
    """Return weights as at the start of a training: zero biases, LayerNorm weights of 1, the rest random."""
    out = drawn_weights(draw, vocabulary, D)
    for name, w in out.items():
        if name.endswith("ln.weight"):
            out[name] = np.ones_like(w)
        elif name.endswith("bias"):
            out[name] = np.zeros_like(w)
    return out


# ---- train


def train(draw):
    yield loop(draw)
    yield training(draw, "reverse", reverse, (2, 4), 200, 8, D=32, batches=32, least=0.35, costly=False)
    yield training(draw, "induction", induction, (6, 6), 1200, 11, D=48, batches=256, least=0.45)


TITLES = {
    "reverse": "reverse: the words of a sentence in reverse order",
    "induction": "induction: a sentence is repeated from a given word on",
}
# The size of a batch, and the number of test sentences: as small as a reliable verdict allows.
SIZE, FRESH = 32, 128


def loop(draw):
    """Return a case that watches the steps of a training on two batches. It measures no accuracy."""
    case, vocabulary, D, steps, size = Case("loop", "train"), 9, 8, 24, 3
    src, src_lens, *targets = distinct(draw, 2 * size, vocabulary)
    columns = src, src_lens, *exchanged(src_lens, *targets)
    _, _, tgt, tgt_lens = columns
    module = case.provide(
        WATCHED,
        "Watched",
        sources=src.tolist(),
        lens=tgt_lens.tolist(),
        width=tgt.shape[1],
        **sizes_of(vocabulary, D),
    )
    case.load(module, untrained(draw, vocabulary, D))
    case.eval(module)  # a model is in this mode after a validation
    names = ("src", "src_valid_len", "tgt", "tgt_valid_len")
    batches = [
        [
            case.input(f"{name}{b}", column[b * size : (b + 1) * size])
            for name, column in zip(names, columns, strict=True)
        ]
        for b in range(2)
    ]
    returned = case.call(module, case.value("batches", batches), steps, name="returned")
    axes = ("sentence", "step")
    for name, facet, title in (
        ("fed", "values", "the decoder's input is the true words, the start token first"),
        ("aims", "values", "the label of every step is the next word"),
        ("beyond", "masking", "padding does not count in the loss"),
        ("lens", "masking", "the model gets the length of each source"),
    ):
        seen = case.see(module[name], name, axes[:1] if name == "lens" else axes)
        case.check(facet, "equal", [seen], title)
    case.check_value(
        module["updates"], steps, "gradients", "the number of steps",
        "the number of weight updates differs from the number of steps",
    )  # fmt: skip
    for name, facet, title, says in (
        ("all moved", "gradients", "training changes all weights of the model",
         "some weights of the model are unchanged"),
        ("fresh", "gradients", "gradients are cleared before every step",
         "the gradients of earlier steps were not cleared"),
        ("training", "modes", "the model trains in training mode",
         "the model was in evaluation mode during the training, or was not trained"),
    ):  # fmt: skip
        case.check(facet, "witnessed", [case.see(module[name], name, axes)], title, says=says)
    case.check_unchanged(*[ref for batch in batches for ref in batch], title="the batches are unchanged")
    state = case.state(module, returned)  # last: it loads the returned weights, which may differ
    case.check("shapes", "trained", state, "the function returns the state dict")
    case.check("values", "moved", state, "the returned weights are trained", module=module.name)
    return case


def distinct(draw, count, vocabulary):
    """Return `count` different sentences of several lengths, so that every batch has padding."""
    table = lookup(draw, vocabulary)
    columns = reverse(draw, 200, vocabulary, 1, 4, table)
    places = {}
    for i, row in enumerate(columns[0]):
        places.setdefault(row.tobytes(), i)
    by_length = sorted(places.values(), key=lambda i: (columns[1][i], i))
    chosen = by_length[:: max(1, len(by_length) // count)][:count]
    order = [chosen[i] for i in np.argsort(draw.normal(count))]
    return [column[order] for column in columns]


def exchanged(src_lens, tgt, tgt_lens):
    """Rotate the targets, so that each source gets another's, and the checks notice a loop that confuses the lengths.

    Of all rotations, take the one in which most targets have neither the length of the source, n, nor n + 1, the
    length of its own target.
    """

    def distinguishable(by):
        lens = np.roll(tgt_lens, by)
        return ((lens != src_lens) & (lens != src_lens + 1)).sum()

    by = max(range(1, len(tgt)), key=distinguishable)
    return np.roll(tgt, by, axis=0), np.roll(tgt_lens, by)


def training(draw, id, task, words, steps, vocabulary, *, D, batches, least, costly=True):
    """Return a case with a whole training, and its exam: the share of new sentences that are right.

    words: the least and the largest number in a sentence. batches: their number. least: the share that is required, far
    above chance and below all results in docs/capstone.md. costly: whether `--quick` leaves the case out.
    """
    case, exam = Case(id, "train"), Case(f"{id}-exam", "train")
    sizes = (vocabulary, *words, lookup(draw, vocabulary))
    known = task(draw, batches * SIZE, *sizes)
    fresh = unseen(task, draw, known, FRESH, *sizes)
    # With the student's own encoder and decoder, if they are written.
    module = case.provide_with_parts(MODEL, "Model", **sizes_of(vocabulary, D))
    case.load(module, untrained(draw, vocabulary, D))
    case.seed(5)  # for answers that shuffle
    given = case.batches("batches", known, SIZE)
    returned = case.call_training(steps, module, given, steps, name="returned")
    state = case.state(module, returned)
    case.check("shapes", "trained", state, f"the function returns the state dict: {id}")

    src, src_lens, tgt, tgt_lens = fresh
    measured = exam.provide(MODEL, "Model", **sizes_of(vocabulary, D))
    exam.load_state(measured, state)
    exam.eval(measured)
    exam.grad(False)
    out = exam.call(
        exam.tokens("src", src), exam.tokens("tgt", tgt[:, :-1]), exam.tokens("src_valid_len", src_lens),
        on=measured, name="out",
    )  # fmt: skip
    T = tgt.shape[1] - 1
    scores = exam.see(out[0], "fresh scores", shape=(len(src), T, vocabulary))
    check_accuracy(case, "values", scores, tgt, tgt_lens, least, TITLES[id])

    few = slice(32)
    out = exam.call(
        exam.tokens("few src", src[few]), exam.tokens("few tgt", tgt[few, :-1]),
        exam.tokens("few src_valid_len", src_lens[few]), on=measured, name="few out",
    )  # fmt: skip
    whole = exam.see(out[0], "whole scores", shape=(len(src[few]), T, vocabulary))
    case.eval(module)
    case.grad(False)
    where = case.method(
        module, "begin", case.tokens("src", src[few]), case.tokens("src_valid_len", src_lens[few])
    )
    parts = []
    for t in range(T):
        made = case.method(
            module, "step", case.tokens(f"word{t}", tgt[few, t : t + 1]), where, name=f"step{t}"
        )
        parts.append(made[0])
        where = made[1]
    own = case.see(case.join(parts, dim=1, name="own scores"), shape=(len(src[few]), T, vocabulary))
    title = f"the same model step by step, with its cache: {id}"
    # The share of so few sentences scatters, so half of what is required is enough here.
    check_accuracy(case, "modes", own, tgt[few], tgt_lens[few], least / 2, title)
    # Each next word is an input of the next step, so a worker could make up right words, but not these
    # scores.
    says = "scores of your parts step by step differ from those of the returned weights for whole sentences"
    title = f"step by step as for whole sentences: {id}"
    case.check("modes", "same", [whole, own], title, says=says)
    case.examined(exam, costly=costly)
    return case


def check_accuracy(case, facet, scores, tgt, lens, least, title):
    """Check the share of sentences in which every word is right. tgt: (count, T + 1).

    Only the judge gets the labels, the words after BOS. A worker gets a label at most as the next step's input.
    """
    labels = case.hold_for_judge(f"{facet} labels", tgt[:, 1:].astype(np.uint8))
    counts = case.hold_for_judge(f"{facet} lens", (lens - 1).astype(np.uint8))
    case.check(facet, "accuracy", [scores], title, labels=labels, lens=counts, least=least)


# ---- greedy_decode


D, VOCABULARY = 8, 11


def greedy_decode(draw):
    S, steps = 5, 7
    w, bos, eos, src, lens = decodable(draw, 5, S, steps)

    case, module = given_model("batch", w)
    sources, lengths = case.input("src", src), case.input("src_valid_len", lens)
    out = case.call(module, sources, lengths, steps, bos, eos, name="out")
    written = case.sentences(out, steps, eos)
    case.check("values", "sentences", [written], "the words before the end token, for a batch of sentences")
    case.check_unchanged(sources, lengths)
    yield case

    case, module = given_model("second-call", w)
    sources, lengths = case.input("src", src), case.input("src_valid_len", lens)
    case.call(module, sources, lengths, steps, bos, eos, name="once")
    other = case.input("src2", src[::-1].copy()), case.input("src_valid_len2", lens[::-1].copy())
    written = case.sentences(case.call(module, *other, steps, bos, eos, name="out"), steps, eos)
    case.check("modes", "sentences", [written], "a second batch is independent of the first")
    yield case

    case, module = given_model("same-call-again", w)
    sources, lengths = case.input("src", src), case.input("src_valid_len", lens)
    once, again = (
        case.sentences(case.call(module, sources, lengths, steps, bos, eos), steps, eos, name=name)
        for name in ("once", "again")
    )
    says = "the same sources gave different sentences the second time"
    case.check("purity", "same", [once, again], "the same sources give the same sentences again", says=says)
    yield case

    short = 3
    case, module = given_model("few-steps", w)
    out = case.call(
        module, case.input("src", src), case.input("src_valid_len", lens), short, bos, eos, name="out"
    )
    written = case.sentences(out, short, eos)
    case.check("values", "sentences", [written], "no more words than steps")
    yield case

    longest = int(np.argmax(lens))
    case, module = given_model("one-sentence", w)
    one = slice(longest, longest + 1)
    out = case.call(
        module,
        case.input("src", src[one]),
        case.input("src_valid_len", lens[one]),
        steps,
        bos,
        eos,
        name="out",
    )
    written = case.sentences(out, steps, eos)
    case.check("values", "sentences", [written], "a batch of one sentence", caps=False)
    yield case

    yield padding(draw, S, steps)
    yield one_word_a_call(w, src, lens, steps, bos, eos)
    yield eval_mode(w, src, lens, steps, bos, eos)


def padding(draw, S, steps):
    """Return a case whose sources hold words after their end. Attending to them changes the result."""
    w, bos, eos, src, lens = decodable(draw, 4, S, steps, noisy=True)
    case, module = given_model("padding", w)
    out = case.call(
        module, case.input("src", src), case.input("src_valid_len", lens), steps, bos, eos, name="out"
    )
    written = case.sentences(out, steps, eos)
    case.check("masking", "sentences", [written], "tokens after the end of a source are ignored")
    return case


def one_word_a_call(w, src, lens, steps, bos, eos):
    case, module = given_model("one-word-a-call", w, COUNTING, "Counting")
    case.call(module, case.input("src", src), case.input("src_valid_len", lens), steps, bos, eos, name="out")
    case.check_value(
        module["most"], 1, "modes", "each call of the decoder gets one new word, the earlier ones are in the cache",
        "a call of the decoder got more than one word, or none",
    )  # fmt: skip
    return case


def eval_mode(w, src, lens, steps, bos, eos):
    """Return a case with a dropout rate. An answer in training mode decodes other sentences at every call."""
    case, module = given_model("evaluation", w, dropout=0.5)
    case.seed(11)
    out = case.call(
        module, case.input("src", src), case.input("src_valid_len", lens), steps, bos, eos, name="out"
    )
    case.check(
        "modes",
        "sentences",
        [case.sentences(out, steps, eos)],
        "no dropout while sentences are decoded",
    )
    return case


def given_model(id, w, source=MODEL, of="Model", dropout=0.0):
    """Return a case and its model with the weights `w`, in training mode as after a training."""
    case = Case(id, "greedy_decode")
    module = case.provide(source, of, **sizes_of(VOCABULARY, D, dropout))
    case.load(module, w)
    case.train(module)
    return case, module


def decodable(draw, B, S, steps, noisy=False):
    """Search for weights, sources and tokens `bos` and `eos` with which sentences end early, late and never.

    At every step the best score leads by more than 0.05, so that rounding changes no word. Without the lengths of the
    sources, other words are decoded.
    `noisy`: the sources hold words after their end.
    """
    for _ in range(8000):
        w = drawn_weights(draw, VOCABULARY, D)
        w["decoder.dense.weight"] = 2 * w["decoder.dense.weight"]
        src, lens = draw.integers(FIRST, VOCABULARY - 1, B, S), draw.lens(B, S)
        if not noisy:
            src[np.arange(S) >= lens[:, None]] = PAD
        bos = draw.choice(range(FIRST, VOCABULARY))
        words, lead = follow(w, src, lens, bos, steps)
        without_lens, _ = follow(w, src, np.full(B, S), bos, steps)
        for eos in range(VOCABULARY):
            if (
                eos not in (PAD, bos)
                and lead > 0.05
                and is_informative(words, eos, bos)
                and not (words == without_lens).all()
            ):
                return w, bos, eos, src, lens
    raise AssertionError("no weights were found with which sentences end early, late and never")


def is_informative(words, eos, bos):
    """Whether the sentences have three or more different lengths, and one never ends.

    Also, some sentence has different words after its `eos`, some has at least three different words before it, and no
    sentence has PAD or `bos` before it.
    """
    ends = [row.index(eos) if eos in row else len(row) for row in words.tolist()]
    before = [row[:end] for row, end in zip(words.tolist(), ends, strict=True)]
    after = [row[end + 1 :] for row, end in zip(words.tolist(), ends, strict=True)]
    return (
        len(set(ends)) >= 3
        and max(ends) == words.shape[1]
        and any(len(set(rest)) > 1 for rest in after)
        and any(len(set(row)) > 2 for row in before)
        and not any(word in (PAD, bos) for row in before for word in row)
    )


@cache
def decoder_to_follow():
    whole, encoder, decoder = blocks("EncoderDecoder", "TransformerEncoder", "TransformerDecoder")
    sizes = sizes_of(VOCABULARY, D)
    return whole(encoder(**sizes), decoder(**sizes)).double().eval()


def follow(w, src, lens, bos, steps):
    """Return the best words (B, steps), also after an EOS, and the smallest lead of a best score."""
    model, lengths = decoder_to_follow(), torch.from_numpy(lens)
    rounded = {n: torch.from_numpy(np.float32(a).astype(float)) for n, a in w.items()}
    model.load_state_dict(rounded, strict=False)
    words, lead = [torch.full((len(src), 1), bos)], np.inf
    with torch.no_grad():
        state = model.decoder.init_state(model.encoder(torch.from_numpy(src), lengths), lengths)
        for _ in range(steps):
            scores, state = model.decoder(words[-1], state)
            best = scores[:, -1].topk(2)
            lead = min(lead, float((best.values[:, 0] - best.values[:, 1]).min()))
            words.append(best.indices[:, :1])
    return torch.cat(words[1:], dim=1).numpy(), lead
