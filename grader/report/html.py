"""The report as HTML: a fragment for a notebook's cell, or a page. It needs nothing but itself, and no script.

Every text is escaped. Colours follow the page it stands in: JupyterLab, VS Code and Colab say whether they
are dark, all others leave it to the system.
"""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from grader.report import pruning_html
from grader.report.model import CheckResult, ExerciseResult, Report
from grader.report.terminal import lead, points, where_checked, word
from grader.support.i18n import _, ngettext

LIGHT = "--hw-paper:#ffffff;--hw-ink:#1f2328;--hw-faint:#59636e;--hw-line:#d1d9e0;--hw-good:#116329;--hw-bad:#b3101d;--hw-odd:#7a2fb5;--hw-box:#f6f8fa"
DARK = "--hw-paper:#14181d;--hw-ink:#e6edf3;--hw-faint:#9aa4af;--hw-line:#3d444d;--hw-good:#56d364;--hw-bad:#ff8d85;--hw-odd:#d2a8ff;--hw-box:#1f252c"
_IN_DARK = ("[data-jp-theme-light=false]", ".vscode-dark", ".vscode-high-contrast", "[theme=dark]")
# VS Code's light theme of high contrast bears the dark one's class too, so light comes last.
# nbgrader's pages and feedback, and the old notebook, are light whatever the system prefers.
_IN_LIGHT = (
    "#notebook-container",
    "[data-jp-theme-light=true]",
    ".vscode-light",
    ".vscode-high-contrast-light",
    "[theme=light]",
)


def _in(pages: Sequence[str], colours: str) -> str:
    return ",".join(f"{page} .headway" for page in pages) + f"{{{colours}}}"


STYLE = f"""<style>
.headway{{{LIGHT}}}
@media (prefers-color-scheme:dark){{.headway{{{DARK}}}}}
{_in(_IN_DARK, DARK)}
{_in(_IN_LIGHT, LIGHT)}
.headway{{background:var(--hw-paper);color:var(--hw-ink);border:1px solid var(--hw-line);border-radius:6px;padding:.6em .9em;margin:.2em 0;max-width:62em;font:14px/1.45 system-ui,sans-serif}}
.headway .hw-head{{font-weight:600;margin:.2em 0}}
.headway *+.hw-head{{margin-top:1.2em}}
.headway .hw-faint{{color:var(--hw-faint);font-weight:400}}
.headway .hw-outcome{{white-space:nowrap}}
.headway .hw-passed{{color:var(--hw-good)}}
.headway .hw-failed,.headway .hw-blocked{{color:var(--hw-bad)}}
.headway .hw-could_not_grade{{color:var(--hw-odd)}}
.headway .hw-skipped,.headway .hw-not_started{{color:var(--hw-faint)}}
.headway .hw-says{{background:var(--hw-box);border-left:3px solid var(--hw-bad);padding:.4em .7em;margin:.5em 0}}
.headway table.hw-rows{{border-collapse:collapse;margin:.4em 0;color:inherit;font-size:13px;background:none}}
.headway.headway .hw-rows tr{{background:none}}
.headway .hw-rows td,.headway .hw-rows th{{text-align:left;vertical-align:top;padding:.1em .9em .1em 0;border:0;background:none;white-space:pre-wrap}}
.headway .hw-rows td.hw-numbers{{font-family:ui-monospace,monospace}}
</style>"""

MARKS = {
    "passed": "✓",
    "failed": "✗",
    "not_started": "○",
    "blocked": "!",
    "could_not_grade": "?",
    "skipped": "-",
}


def page(report: Report) -> str:
    """The report as a document of its own."""
    title = _("Headway report")
    return (
        f'<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8"><title>{escape(title)}</title>'
        '<meta name="viewport" content="width=device-width"><meta name="color-scheme" content="light dark"></head>\n'
        f"<body><main>{fragment(report)}</main></body></html>\n"
    )


def fragment(report: Report) -> str:
    """The report as a piece of any page."""
    parts = [STYLE, '<div class="headway">', *map(_exercise, report.exercises)]
    parts.append(pruning_html.section([e.figures for e in report.exercises]))
    parts += [f"<div>{escape(remark)}</div>" for remark in report.remarks]
    if len(report.exercises) > 1:
        total = _("{score} points").format(score=points(report.score, report.points))
        parts.append(f'<div class="hw-head">{escape(total)}</div>')
    if any(e.outcome == "could_not_grade" for e in report.exercises):
        told = _("Something could not be graded. That costs no points; please tell your instructor.")
        parts.append(f"<div>{escape(told)}</div>")
    parts.append(f'<div class="hw-faint">{escape(_circumstances(report))}</div></div>')
    return "\n".join(parts)


def sentence(text: str) -> str:
    """One sentence in the same clothes, for what is no report."""
    return f'{STYLE}\n<div class="headway">{escape(text)}</div>'


def _circumstances(report: Report) -> str:
    cases = _("hidden cases") if report.seed == "hidden" else _("public cases")
    told = _("{cases} · sandbox {tier} · grader {version}").format(
        cases=cases, tier=report.sandbox, version=report.grader
    )
    return " · ".join(filter(None, (told, where_checked(report))))


def _exercise(result: ExerciseResult) -> str:
    head = (
        f'<div class="hw-head" role="heading" aria-level="3">{escape(result.name)} <span class="hw-faint">{escape(result.title)}</span> · '
        f"{_outcome(result.outcome)} · {escape(points(result.score, result.points))}</div>"
    )
    parts = [head]
    if result.message:
        parts.append(f"<div>{escape(result.message)}</div>")
    parts += [_says(result), _first_failure(result.checks), _checks(result.checks)]
    parts += [
        f'<div class="hw-faint">{escape(_("note"))}: {escape(remark)}</div>' for remark in result.remarks
    ]
    return "\n".join(filter(None, parts))


def _outcome(outcome: str) -> str:
    return f'<span class="hw-outcome hw-{outcome}">{MARKS[outcome]} {escape(word(outcome))}</span>'


def _says(result: ExerciseResult) -> str:
    found = result.diagnosis
    if not found.says:
        return ""
    begins = lead(found.kind)
    strong = f"<strong>{escape(begins)}:</strong> " if begins else ""
    return f'<div class="hw-says">{strong}{escape(found.says)}</div>'


def _checks(checks: Sequence[CheckResult]) -> str:
    rows = [
        f"<tr><td>{_outcome(check.outcome)}</td><td>{escape(check.facet)}</td><td>{escape(check.title)}</td></tr>"
        for check in checks
        if check.outcome != "skipped"
    ]
    skipped = len(checks) - len(rows)
    if skipped:
        text = ngettext(
            "{n} check was not looked at after that", "{n} checks were not looked at after that", skipped
        )
        rows.append(f'<tr><td colspan="3" class="hw-faint">{escape(text.format(n=skipped))}</td></tr>')
    return f'<table class="hw-rows">{"".join(rows)}</table>' if rows else ""


def _first_failure(checks: Sequence[CheckResult]) -> str:
    """The first check that failed: which, what, where, expected and got."""
    check = next((c for c in checks if c.outcome in ("failed", "could_not_grade")), None)
    if check is None:
        return ""
    fields = (
        (_("check"), f"{check.facet}: {check.title}", ""),
        (_("what"), check.message, ""),
        (_("where"), check.where, ""),
        (_("expected"), check.expected, "hw-numbers"),
        (_("got"), check.got, "hw-numbers"),
    )
    rows = [
        f'<tr><th>{escape(name)}</th><td class="{kind}">{escape(text)}</td></tr>'
        for name, text, kind in fields
        if text
    ]
    return f'<table class="hw-rows">{"".join(rows)}</table>'
