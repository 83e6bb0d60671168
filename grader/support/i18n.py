"""Translate the sentences that users read: pass each whole sentence through `_`. `N_` marks one that is translated later."""

import gettext
from pathlib import Path

_catalogue = gettext.translation("headway", Path(__file__).parents[1] / "locale", fallback=True)
_ = _catalogue.gettext
ngettext = _catalogue.ngettext


def N_(text: str) -> str:  # noqa: N802 (the usual name of this marker)
    """Return the text as it is: translations are looked up for it, as for the argument of `_`."""
    return text


def language() -> str:
    """Return the language that sentences are translated into; "" if they are not translated."""
    return str(_catalogue.info().get("language", ""))
