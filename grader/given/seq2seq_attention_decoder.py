"""A recurrent decoder that attends to the source at every step (after Bahdanau et al. 2015)."""

import torch
from torch import nn

from grader.given import AdditiveAttention

__all__ = ["Seq2SeqAttentionDecoder"]


class Seq2SeqAttentionDecoder(nn.Module):
    """A GRU whose input at each step is the context vector and the embedded token, concatenated.

    `attention_weights` is a list with the weights of the latest call, one tensor (B, 1, S) for each step.
    """

    def __init__(
        self, vocab_size: int, embed_size: int, num_hiddens: int, num_layers: int, dropout: float = 0
    ):
        super().__init__()
        self.attention = AdditiveAttention(num_hiddens, num_hiddens, num_hiddens, dropout)
        self.embedding = nn.Embedding(vocab_size, embed_size)
        self.rnn = nn.GRU(
            embed_size + num_hiddens,
            num_hiddens,
            num_layers,
            batch_first=True,
            dropout=dropout if num_layers > 1 else 0,  # it acts between layers; with one layer, PyTorch warns
        )
        self.dense = nn.Linear(num_hiddens, vocab_size)
        self.attention_weights: list[torch.Tensor] = []

    def init_state(
        self,
        enc_outputs: tuple[torch.Tensor, torch.Tensor],
        enc_valid_lens: torch.Tensor | None,
        *args: object,
    ) -> tuple:
        """Create the state before the first word.

        enc_outputs: outputs (S, B, D) and hidden (L, B, D) of the encoder; enc_valid_lens: None or (B,).
        Returns (outputs (B, S, D), hidden, enc_valid_lens).
        """
        outputs, hidden_state = enc_outputs
        return outputs.transpose(0, 1), hidden_state, enc_valid_lens

    def forward(self, X: torch.Tensor, state: tuple) -> tuple[torch.Tensor, tuple]:
        """Score the next word after each token of X (B, T). Returns (B, T, V) and the state after the last step."""
        enc_outputs, hidden_state, enc_valid_lens = state
        self.attention_weights = []
        steps = []
        for embedded in self.embedding(X).split(1, dim=1):  # T times (B, 1, E)
            query = hidden_state[-1][:, None]  # (B, 1, D)
            context = self.attention(query, enc_outputs, enc_outputs, enc_valid_lens)  # (B, 1, D)
            self.attention_weights.append(self.attention.attention_weights)  # (B, 1, S)
            step, hidden_state = self.rnn(torch.cat((context, embedded), dim=-1), hidden_state)
            steps.append(step)  # (B, 1, D)
        return self.dense(torch.cat(steps, dim=1)), (enc_outputs, hidden_state, enc_valid_lens)
