"""The interface of decoders with attention in Dive into Deep Learning."""

from grader.given import Decoder

__all__ = ["AttentionDecoder"]


class AttentionDecoder(Decoder):
    """A base class: subclasses also define a property `attention_weights`."""

    @property
    def attention_weights(self) -> object:
        raise NotImplementedError(f"{type(self).__name__} does not define attention_weights.")
