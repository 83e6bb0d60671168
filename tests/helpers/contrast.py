"""The contrast ratio of two colours, as WCAG 2.1 defines it."""

AAA = 7.0  # WCAG 2.1, 1.4.6: the least contrast ratio of a text and its background


def rgb(colour: str) -> list[float]:
    """Return [r, g, b] of a colour such as "#1f2328"."""
    return [int(colour[i : i + 2], 16) for i in (1, 3, 5)]


def luminance(colour: list[float]) -> float:
    """Return the relative luminance of WCAG 2.1. colour: [r, g, b] from 0 to 255."""
    parts = [part / 255 for part in colour]
    linear = [p / 12.92 if p <= 0.03928 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def ratio(ink: list[float], paper: list[float]) -> float:
    light, dark = sorted((luminance(ink), luminance(paper)), reverse=True)
    return (light + 0.05) / (dark + 0.05)
