"""Write charts as PNG, SVG, HTML or Vega-Lite JSON, without network and without a browser."""

from __future__ import annotations

import functools
import html
import json
import re
import uuid
from collections.abc import Callable
from pathlib import Path
from typing import Any

from evalake_warehouse.errors import UsageError
from evalake_warehouse.shown import shown

FORMATS = ("svg", "png", "html", "json")
_VEGA_LITE = "6.4"
_PAIRED = re.compile(r"[\U00010000-\U0010ffff]")  # characters of two UTF-16 units
_CLIP = re.compile(r'((?:id="|url\(#)clip)(\d+)(?=[")])')


def to_svg(chart: Any) -> str:
    """A chart as SVG text, the same for the same chart."""
    import vl_convert

    svg: str = _compiled(vl_convert.vegalite_to_svg, _spec(chart))
    # Vega counts its clip paths over all charts of a process.
    numbers: dict[str, int] = {}
    return _CLIP.sub(lambda match: f"{match[1]}{numbers.setdefault(match[2], len(numbers))}", svg)


def save(chart: Any, path: str | Path) -> Path:
    """Write a chart in the format that the file's ending names; the file appears whole.

    Raises:
        UsageError: another ending, or a folder that cannot be written.
    """
    path = Path(path)
    kind = path.suffix.lstrip(".").lower()
    if kind not in FORMATS:
        raise UsageError(
            f"no chart format {kind!r}; there are: {', '.join(FORMATS)}", where=str(path)
        )
    write_whole(path, _encode(chart, kind))
    return path


def write_whole(path: Path, content: bytes) -> None:
    """Write a file beside its place and move it there.

    Raises:
        UsageError: the folder cannot be made or written.
    """
    temporary = path.with_name(f".{path.name}.{uuid.uuid4().hex}.tmp")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        temporary.write_bytes(content)
        temporary.replace(path)
    except OSError as error:
        raise UsageError(
            f"cannot be written: {error.strerror or error}",
            where=str(path),
            hint="choose another folder with --output",
        ) from error
    finally:
        _remove(temporary)


def _remove(path: Path) -> None:
    try:
        path.unlink(missing_ok=True)
    except OSError:
        return


def _encode(chart: Any, kind: str) -> bytes:
    import vl_convert

    if kind == "svg":
        return to_svg(chart).encode()
    if kind == "png":
        png: bytes = _compiled(vl_convert.vegalite_to_png, _spec(chart), scale=2)
        return png
    if kind == "json":
        return json.dumps(_spec(chart), indent=1, sort_keys=True).encode()
    return _html(chart).encode()


def _spec(chart: Any) -> dict[str, Any]:
    """A chart as Vega-Lite, its texts cleaned: the compiler dies of a control character in one."""
    cleaned: dict[str, Any] = _mapped(chart.to_dict(validate=False), shown)
    return cleaned


def _compiled(compiler: Callable[..., Any], spec: dict[str, Any], **options: Any) -> Any:
    """A picture of a chart.

    Vega cuts a long text by UTF-16 units, and its compiler refuses half an emoji. Such a chart is
    drawn with escapes for those characters.
    """
    try:
        return compiler(spec, vl_version=_VEGA_LITE, **options)
    except ValueError:
        return compiler(_mapped(spec, _without_pairs), vl_version=_VEGA_LITE, **options)


def _without_pairs(text: str) -> str:
    return _PAIRED.sub(lambda match: f"\\U{ord(match[0]):08x}", text)


def _mapped(value: Any, clean: Callable[[str], str]) -> Any:
    """A JSON-like value with every text cleaned, names of fields too."""
    if isinstance(value, str):
        return clean(value)
    if isinstance(value, dict):
        return {clean(key): _mapped(item, clean) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_mapped(item, clean) for item in value]
    return value


_PAGE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'; \
script-src 'unsafe-inline' 'unsafe-eval'; img-src data: blob:">
<link rel="icon" href="data:,">
<title>{title}</title>
<style>body{{margin:0;background:{background}}}</style>
</head>
<body>
<div id="chart"></div>
<script>{library}</script>
<script>
const actions = {{export: true, source: false, compiled: false, editor: false}};
vegaEmbed("#chart", {spec}, {{renderer: "svg", actions}});
</script>
</body>
</html>
"""


def _html(chart: Any) -> str:
    """A page with the interactive chart and the library that draws it, all inside."""
    spec = _spec(chart)
    heading = spec.get("title", {})
    return _PAGE.format(
        title=html.escape(str(heading.get("text", "") if isinstance(heading, dict) else heading)),
        background=spec.get("config", {}).get("background", "#ffffff"),
        library=_library(),
        # No label can close the script: `<` is written as its escape.
        spec=json.dumps(spec).replace("<", "\\u003c"),
    )


@functools.cache
def _library() -> str:
    import vl_convert

    bundle: str = vl_convert.javascript_bundle(vl_version=_VEGA_LITE)  # type: ignore[call-arg]
    return bundle.replace("</script", "<\\/script")
