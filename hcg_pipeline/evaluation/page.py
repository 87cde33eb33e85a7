"""A report in Markdown as one HTML page that needs nothing beside it: no script, no font, no file."""

import base64
import re
from html import escape

from markdown_it import MarkdownIt

_STYLE = """
:root { color-scheme: light; }
body { font: 15px/1.5 system-ui, sans-serif; max-width: 84rem; margin: 2rem auto; padding: 0 1rem; color: #222;
  background: #fff; }
h2 { margin-top: 2.5rem; border-top: 1px solid #ddd; padding-top: 1rem; }
nav { columns: 3 18rem; margin: 1rem 0; }
nav a { display: block; color: #1b6ca8; text-decoration: none; }
table { border-collapse: collapse; display: block; overflow-x: auto; margin: .5rem 0 1rem; font-size: 14px; }
th, td { border-bottom: 1px solid #ddd; padding: .25rem .6rem; white-space: nowrap; }
td { font-variant-numeric: tabular-nums; }
th { border-bottom: 2px solid #888; text-align: left; }
th:first-child, td:first-child { position: sticky; left: 0; background: #fff; }
tbody tr:hover { background: #f3f7fb; }
code { background: #f4f4f4; padding: .1rem .3rem; overflow-wrap: anywhere; }
img { max-width: 100%; }
""".strip()
_HEADING = re.compile(r"<h2>(.*?)</h2>", re.DOTALL)


def as_html(title: str, markdown: str, image: str = "", svg: bytes = b"") -> str:
    """`markdown` as HTML, markup in it shown as text, with its sections listed in front of the first.

    Where it links to `image`, `svg` is put in.
    """
    body = str(MarkdownIt("commonmark", {"html": False}).enable("table").render(markdown))
    if svg:
        data = f"data:image/svg+xml;base64,{base64.b64encode(svg).decode()}"
        body = body.replace(f'src="{image}"', f'src="{data}"')
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{escape(title)}</title>\n<style>\n{_STYLE}\n</style>\n</head>\n<body>\n{_with_contents(body)}</body>\n"
        "</html>\n"
    )


def _with_contents(body: str) -> str:
    """The page with an anchor at each of its sections, and links to them before the first."""
    headings = _HEADING.findall(body)
    if len(headings) < 2:
        return body
    places = iter(range(1, len(headings) + 1))
    body = _HEADING.sub(lambda found: f'<h2 id="s{next(places)}">{found.group(1)}</h2>', body)
    links = "\n".join(f'<a href="#s{place}">{text}</a>' for place, text in enumerate(headings, start=1))
    return body.replace('<h2 id="s1">', f'<nav>\n{links}\n</nav>\n<h2 id="s1">', 1)
