"""A report in Markdown as one HTML page that needs nothing beside it: no script, no font, no file."""

import base64
from html import escape

from markdown_it import MarkdownIt

_STYLE = """
body { font: 15px/1.5 system-ui, sans-serif; max-width: 72rem; margin: 2rem auto; padding: 0 1rem; color: #222; }
table { border-collapse: collapse; display: block; overflow-x: auto; margin: .5rem 0 1rem; }
th, td { border-bottom: 1px solid #ddd; padding: .25rem .6rem; white-space: nowrap; }
th { border-bottom: 2px solid #888; text-align: left; }
code { background: #f4f4f4; padding: .1rem .3rem; overflow-wrap: anywhere; }
img { max-width: 100%; }
""".strip()


def as_html(title: str, markdown: str, image: str = "", svg: bytes = b"") -> str:
    """`markdown` as HTML, markup in it shown as text. Where it links to `image`, `svg` is put in."""
    body = str(MarkdownIt("commonmark", {"html": False}).enable("table").render(markdown))
    if svg:
        data = f"data:image/svg+xml;base64,{base64.b64encode(svg).decode()}"
        body = body.replace(f'src="{image}"', f'src="{data}"')
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f"<title>{escape(title)}</title>\n<style>\n{_STYLE}\n</style>\n</head>\n<body>\n{body}</body>\n</html>\n"
    )
