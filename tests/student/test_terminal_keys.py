"""Each key of a terminal is sent once, and an arrow is one key."""

from grader.student import terminal_keys


def test_arrows_between_letters_are_keys_of_their_own(monkeypatch):
    typed = iter(["j\x1b[Bq", "\x1bOA\x1b", "é\n", ""])
    monkeypatch.setattr(terminal_keys, "_next_keys", lambda: next(typed))
    sent: list[str] = []
    terminal_keys._read(sent.append)
    assert sent == ["j", "\x1b[B", "q", "\x1bOA", "\x1b", "é", "\n", terminal_keys.CLOSED]
