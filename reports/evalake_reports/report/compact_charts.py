"""Make Vega's SVG smaller without changing the picture: it says everything of every mark."""

from __future__ import annotations

import re

from evalake_reports.charts.theme import FONT

# Boxes behind and before a group: without a colour of their own they are not drawn.
_BOX = re.compile(
    r'<path class="(?:back|fore)ground"(?: (?:aria-hidden|d|display|pointer-events)="[^"]*")*/>'
)
_TAG = re.compile(r"<[^<>]+>")
# What says nothing, or what tables beside a chart say better than its marks.
_SILENT = re.compile(
    r' (?:opacity="1"|pointer-events="none"|(?:class|role|aria-[a-z]+)="[^"]*"'
    rf'|font-family="{re.escape(FONT)}")'
)
_LONG = re.compile(r"-?\d+\.\d{3,}(?:e-?\d+)?")
_SIBLINGS = re.compile(
    r"<g>((?:<(?:text|line|path|rect)(?: [^<>]*?)?(?:/>|>[^<]*</(?:text|line|path|rect)>)){2,})</g>"
)
_OPENING = re.compile(r"<(?:text|line|path|rect)((?: [^<>]*?)?)(?=/?>)")
_ATTRIBUTE = re.compile(r' ([\w-]+)="[^"]*"')
_INHERITED = re.compile(
    r"fill(-opacity)?|font-(size|style|weight)|text-anchor|"
    r"stroke(-(dasharray|linecap|linejoin|miterlimit|opacity|width))?"
)


def slim(svg: str) -> str:
    """The same picture: numbers to two decimals, and what marks share said once, around them."""
    svg = _TAG.sub(_terse, _BOX.sub("", svg)).replace("<svg", f'<svg font-family="{FONT}"', 1)
    return _SIBLINGS.sub(_share, svg)


def _terse(tag: re.Match[str]) -> str:
    return _LONG.sub(_rounded, _SILENT.sub("", tag[0]))


def _rounded(match: re.Match[str]) -> str:
    text = f"{float(match[0]):.2f}".rstrip("0").rstrip(".")
    return "0" if text == "-0" else text


def _share(match: re.Match[str]) -> str:
    marks = [
        {found[0] for found in _ATTRIBUTE.finditer(opening[1]) if _INHERITED.fullmatch(found[1])}
        for opening in _OPENING.finditer(match[1])
    ]
    shared = sorted(set.intersection(*marks))
    inside = match[1]
    if shared:
        one_of_them = re.compile("|".join(map(re.escape, shared)))
        inside = _OPENING.sub(lambda opening: one_of_them.sub("", opening[0]), inside)
    return f"<g{''.join(shared)}>{inside}</g>"
