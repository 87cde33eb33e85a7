"""HTML, Markdown, XML and EPUB."""

import random
from collections.abc import Callable, Mapping

import pytest

from hcg_pipeline.corpus.loaders import kind_of
from hcg_pipeline.errors import DocumentError


def _text(name: str, content: str | bytes) -> str:
    kind = kind_of(name)
    assert kind is not None
    [record] = kind.load(content.encode() if isinstance(content, str) else content)
    assert (record.number, record.reason) == (None, None)
    return record.text


def _paragraphs(count: int) -> list[str]:
    source = random.Random(count)
    words = [
        "the",
        "seal",
        "of",
        "a",
        "pump",
        "fails",
        "when",
        "water",
        "wears",
        "its",
        "faces",
        "and",
        "vibration",
        "loosens",
        "every",
        "bolt",
        "in",
        "turn",
    ]
    return [" ".join(source.choice(words) for _ in range(70)).capitalize() + "." for _ in range(count)]


def test_a_small_page_is_read_in_full_but_for_navigation_and_scripts() -> None:
    page = """<html><head><title>Title</title><style>p {}</style></head><body><nav>Home About</nav><h1>Seals</h1>
      <p>Seals <b>wear</b> out.<br>They leak&nbsp;then &amp; drip.</p><p hidden>no</p><p style="display: none">no</p>
      <script>var x = 1</script><ul><li>dry running<ul><li>no water</li></ul></li><li>wear</li></ul>
      <pre>a = 1\nb = 2</pre>text of the body<footer>Imprint</footer></body></html>"""
    assert _text("a.html", page) == (
        "Seals\n\nSeals wear out.\nThey leak then & drip.\n- dry running\n- no water\n- wear\n\n"
        "a = 1\nb = 2\n\ntext of the body"
    )


def test_the_main_content_of_a_large_page_without_its_menus() -> None:
    paragraphs = _paragraphs(8)
    menu = "".join(f'<li><a href="/{n}">Menu entry {n} of this site</a></li>' for n in range(80))
    page = (
        f'<html><body><div class="sidebar"><ul>{menu}</ul></div><div id="content"><h1>Seals</h1>'
        + "".join(f"<h2>Part {n}</h2><p>{text}</p>" for n, text in enumerate(paragraphs))
        + "<table><tr><th>part</th><th>life</th></tr><tr><td>seal</td><td>short</td></tr></table></div></body></html>"
    )
    text = _text("a.html", page)
    assert text.startswith("Seals\n\nPart 0\n\n" + paragraphs[0])
    assert all(paragraph in text for paragraph in paragraphs)
    assert "Menu entry" not in text


def test_a_page_laid_out_with_a_table_keeps_its_paragraphs() -> None:
    paragraphs = _paragraphs(8)
    cells = "".join(f"<p>{text}</p>" for text in paragraphs)
    page = f"<html><body><table><tr><td><a href='/'>Home</a></td><td>{cells}</td></tr></table></body></html>"
    assert all(f"{text}\n\n" in _text("a.html", page) + "\n\n" for text in paragraphs)


def test_tables_are_sentences_and_merged_cells_count_where_they_reach() -> None:
    page = """<table><thead><tr><th>drug</th><th>target</th><th>risk</th></tr></thead><tbody>
      <tr><td>A</td><td rowspan="2">sodium channel</td><td>rash</td></tr><tr><td>B</td><td>ataxia</td></tr>
      <tr><td>C</td><td colspan="2">unknown</td></tr></tbody></table>"""
    assert _text("a.html", page) == (
        "drug: A; target: sodium channel; risk: rash.\n"
        "drug: B; target: sodium channel; risk: ataxia.\n"
        "drug: C; target: unknown."
    )


def test_tables_inside_tables() -> None:
    inner = "<table><tr><th>drug</th><th>risk</th></tr><tr><td>A</td><td>rash</td></tr></table>"
    outer = f"<table><tr><td>Drugs of today</td><td>{inner}</td></tr></table>"
    assert _text("a.html", outer) == "Drugs of today\n\ndrug: A; risk: rash."
    deep = "<table><tr><td>" * 400 + "Deep down."
    assert _text("a.html", deep) == "Deep down."


def test_a_table_of_names_and_values() -> None:
    page = "<table><tr><th>Kingdom:</th><td>Animalia</td></tr><tr><th>Order:</th><td>Anseriformes</td></tr></table>"
    assert _text("a.html", page) == "Kingdom: Animalia.\nOrder: Anseriformes."


@pytest.mark.parametrize(
    "content",
    [
        '<html><head><meta charset="shift_jis"></head><body><p>脳の損傷</p></body></html>'.encode("shift_jis"),
        '<meta http-equiv="Content-Type" content="text/html; charset=euc-jp"><p>脳の損傷</p>'.encode("euc_jp"),
        "<p>脳の損傷</p>".encode(),
        '<?xml version="1.0" encoding="utf-8"?><html xmlns="http://www.w3.org/1999/xhtml"><p>脳の損傷</p></html>'.encode(),
    ],
)
def test_a_page_is_read_in_the_encoding_that_it_declares(content: bytes) -> None:
    assert _text("a.html", content) == "脳の損傷"


def test_a_page_that_declares_a_wrong_encoding() -> None:
    page = '<meta charset="utf-8"><p>L\'été était très chaud.</p>'
    assert _text("a.html", page.encode("cp1252")) == "L'été était très chaud."


def test_broken_pages_and_plain_text() -> None:
    assert _text("a.html", "<p>One<p>Two <b>three</p><div>Four") == "One\n\nTwo three\n\nFour"
    assert _text("a.html", "No tags at all.") == "No tags at all."
    assert _text("a.html", "<div>" * 400 + "Deep" + "</div>" * 400) == "Deep"


def test_markdown_as_a_reader_sees_it() -> None:
    source = """# Why *seals* fail

Water [wears](http://example.org) the **seal**,
and ![a photo](x.png) `dry running` harms it.

- wear
- dry running

| part | life |
| --- | --- |
| seal | short |

```
x = 1
```

<div>Inline &amp; HTML</div>
"""
    assert _text("a.md", source) == (
        "Why seals fail\n\nWater wears the seal, and dry running harms it.\n- wear\n- dry running\n\n"
        "part: seal; life: short.\n\nx = 1\n\nInline & HTML"
    )


def test_markdown_in_latin_1() -> None:
    assert _text("a.md", "## können\n\näöüß\n".encode("latin-1")) == "können\n\näöüß"


def test_a_journal_article_in_xml() -> None:
    source = """<?xml version="1.0"?><!DOCTYPE article><article><front><journal-meta><issn>1</issn></journal-meta>
      <article-meta><title-group><article-title>Seizures in <italic>Danio rerio</italic></article-title></title-group>
      <abstract><p>Loss of <italic>SCN1A</italic> causes seizures (<xref>Kim, 2020</xref>).</p></abstract>
      </article-meta></front><body>
      <sec><title>Introduction</title><p>See <xref>Fig. 1</xref> for CO<sub>2</sub>.</p><p>More.</p></sec>
      </body><back><ref-list><ref>Someone 1999</ref></ref-list></back></article>"""
    assert _text("a.xml", source) == (
        "Seizures in Danio rerio\n\nLoss of SCN1A causes seizures (Kim, 2020).\n\nIntroduction\n\n"
        "See Fig. 1 for CO2.\n\nMore."
    )


def test_a_feed_in_xml() -> None:
    source = """<rss><channel><title>Blog</title><link>http://x</link><item><title>Post</title>
      <description>&lt;p&gt;Hello &lt;b&gt;bold&lt;/b&gt; world.&lt;/p&gt;&lt;p&gt;Second.&lt;/p&gt;</description>
      </item>
      <item><title>Next</title><description><![CDATA[<p>More <a href="y">here</a>.</p>]]></description>
      </item></channel></rss>"""
    assert _text("a.xml", source) == "Blog\n\nPost\n\nHello bold world.\n\nSecond.\n\nNext\n\nMore here."


def test_xml_loads_no_other_file_and_expands_nothing(tmp_path: object) -> None:
    (secret := tmp_path / "secret").write_text("SECRET")  # type: ignore[operator]
    source = f'<!DOCTYPE r [<!ENTITY e SYSTEM "file://{secret}"><!ENTITY b "boom">]><r><p>Before &e;&b; after.</p></r>'
    assert _text("a.xml", source) == "Before after."


def _book(parts: Mapping[str, str]) -> dict[str, str]:
    container = '<container xmlns="c"><rootfiles><rootfile full-path="OEBPS/book.opf"/></rootfiles></container>'
    package = """<package xmlns="o"><manifest><item id="one" href="ch%201.xhtml"/>
      <item id="two" href="ch2.xhtml"/></manifest>
      <spine><itemref idref="two"/><itemref idref="one"/></spine></package>"""
    return {"META-INF/container.xml": container, "OEBPS/book.opf": package, **parts}


def test_a_book_in_the_order_of_its_spine(archive: Callable[[Mapping[str, str]], bytes]) -> None:
    parts = {"OEBPS/ch 1.xhtml": "<html><body><h1>End</h1><p>é.</p></body></html>", "OEBPS/ch2.xhtml": "<p>Start.</p>"}
    assert _text("a.epub", archive(_book(parts))) == "Start.\n\nEnd\n\né."


def test_a_book_that_lacks_a_part(archive: Callable[[Mapping[str, str]], bytes]) -> None:
    with pytest.raises(DocumentError, match=r"the book lacks its part OEBPS/ch2\.xhtml"):
        _text("a.epub", archive(_book({})))
    with pytest.raises(DocumentError, match=r"the book lacks its part META-INF/container\.xml"):
        _text("a.epub", archive({"a": "b"}))
