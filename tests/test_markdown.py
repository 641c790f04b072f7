"""Hostile names in Markdown, read by a parser of CommonMark with GitHub's tables."""

import pytest

from hostile import pages
from labelspace import Decision, train
from labelspace.report.table import markdown_table
from labelspace.results import Result
from labelspace.serving.card import card
from labelspace.spec.naming import plain
from small_results import result

markdown_it = pytest.importorskip("markdown_it")
NAMES = [
    *pages.PAYLOADS,
    "[press](javascript:hit(1))",
    "![](http://127.0.0.1:9/picture)",
    "<https://example.org>",
    "see https://example.org or www.example.org",
    "a | b | c",
    "```\ncode",
    "    code",
    "- one\n- two",
    "1. first",
    "+",
    "---",
    "===",
    "# heading",
    "> said",
    "~~gone~~ **bold** _it_ `code`",
    "$x^2$",
    "[^1]: note",
    "&amp;&#60;&lt;",
    "\\<b>\\",
    "-1.5",
]
# what our own lines hold: anything else would come from a name
OWN = {"table", "thead", "tbody", "tr", "th", "td", "paragraph", "heading", "bullet_list", "list_item", "strong"}


def parsed(text):
    """Return the kinds of elements that a text has, its cells, and everything that it says."""
    parser = markdown_it.MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"])
    tokens = [part for token in parser.parse(text) for part in (token, *(token.children or []))]
    kinds = {token.type.removesuffix("_open").removesuffix("_close") for token in tokens}
    # entities and escapes are parts of their own
    said = ["".join(part.content for part in token.children) for token in tokens if token.type == "inline"]
    return kinds - {"inline", "text", "text_special", "softbreak"}, said


@pytest.mark.parametrize("name", NAMES)
def test_a_name_is_text(name):
    for before, after, frame in [
        ("", "", set()),
        ("| a |\n| --- |\n| ", " |", {"table", "thead", "tbody", "tr", "th", "td"}),
    ]:
        kinds, said = parsed(f"{before}{plain(name)}{after}")
        assert kinds <= {"paragraph", *frame}
        assert said[-1] == " ".join(name.split())


def test_addresses_are_not_links_of_their_own_accord():
    assert plain("see https://a.org, www.b.org") == r"see https\://a.org, www\.b.org"


def test_numbers_stay_as_they_are():
    assert [plain(text) for text in ("-1.5", "+3.1 %", "0.71", "−58 %", "1.")] == [
        "-1.5",
        "+3.1 %",
        "0.71",
        "−58 %",
        r"1\.",
    ]


def test_cards_of_hostile_comparisons():
    names = list(dict.fromkeys(" ".join(name.split()) for name in NAMES))
    count = 20 * len(names)
    x, y = [[float(i), float(i * i % 7)] for i in range(count)], [names[i % len(names)] for i in range(count)]
    run = train((x, y), model="linear", epochs=1)
    known = run.preprocessing["names"]
    comparison = result(
        title=NAMES[1],
        data={"name": NAMES[2]},
        verdict={"sentences": NAMES},
        warnings=NAMES,
        command="x\n```\n<b>",
    )
    kinds, said = parsed(card(run, Decision("argmax", 1.0, None, known), comparison))
    assert kinds <= OWN | {"fence", "code_inline"}
    assert set(known[:40]) <= set(said)
    assert said[0] == f"A classifier of {len(names)} classes: {' '.join(NAMES[2].split())}"


def test_tables_of_hostile_comparisons(tmp_path):
    content = pages.facts(pages.write(tmp_path / "comparison", classes=4))
    kinds, said = parsed(markdown_table(Result.model_validate(content)))
    assert kinds <= OWN | {"blockquote"}
    labels = [f"{row['label']} (control)" if row["role"] == "control" else row["label"] for row in content["rows"]]
    assert set(labels) <= set(said)
