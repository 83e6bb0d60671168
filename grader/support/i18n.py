"""Translate the sentences that users read: pass each whole sentence through `_`."""

import gettext
from pathlib import Path

_catalogue = gettext.translation("headway", Path(__file__).parents[1] / "locale", fallback=True)
_ = _catalogue.gettext
ngettext = _catalogue.ngettext


def language() -> str:
    """Return the language that sentences are translated into; "" if they are not translated."""
    return str(_catalogue.info().get("language", ""))
