"""Right answers to the two exercises of lesson 02, as beginners write them; tests change them."""

HEAD = "import torch\n\n"
MASK = """\
def sequence_mask(X, valid_len, value=0):
    steps = torch.arange(X.shape[1])
    keep = steps[None, :] < valid_len[:, None]
    keep = keep.reshape(keep.shape + (1,) * (X.dim() - 2))
    return X.masked_fill(~keep, value)


"""
SOFTMAX = """\
def masked_softmax(X, valid_lens):
    if valid_lens is None:
        return X.softmax(-1)
    lens = valid_lens[:, None] if valid_lens.dim() == 1 else valid_lens
    keep = torch.arange(X.shape[-1]) < lens[:, :, None]
    scores = X.masked_fill(~keep, torch.finfo(X.dtype).min)
    return scores.softmax(-1)


"""
