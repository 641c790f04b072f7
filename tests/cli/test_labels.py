"""`labelspace labels`, as a person types it."""

import json
import os
from pathlib import Path

import pytest
import torch
from typer.testing import CliRunner

from labelspace import LabelSpace, cost, ordinal, wordnet
from labelspace.cli.labels import app
from labelspace.compressed import LowRank, TopRows
from labelspace.spec.prices import prices
from labelspace.spec.taxonomy import taxonomy

TREE = "pets > cat\npets > dog\nroad > bus\n"


@pytest.fixture(autouse=True)
def own_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("tree.txt").write_text(TREE)


def run(*arguments: str, code: int = 0) -> str:
    result = CliRunner().invoke(app, list(arguments))
    assert result.exit_code == code, result.output + str(result.exception)
    return result.stdout


def test_build_writes_a_label_file() -> None:
    said = run("build", "low<mid<high", "-o", "sizes.safetensors")
    assert said == "order: low < mid < high\nrelations of 3 classes\nwritten to sizes.safetensors\n"
    torch.testing.assert_close(LabelSpace.load("sizes.safetensors").matrix, ordinal(["low", "mid", "high"]).matrix)


def test_build_takes_classes_from_a_list_a_number_or_data() -> None:
    assert json.loads(run("build", "ordinal", "--classes", "3", "--json"))["classes"] == ["0", "1", "2"]
    assert json.loads(run("build", "ordinal", "--data", "digits", "--json"))["words"].startswith("order: 0 < 1 < 2")
    run("build", "wordnet", "--classes", "cat, dog,truck", "-o", "w.safetensors")
    torch.testing.assert_close(LabelSpace.load("w.safetensors").matrix, wordnet(["cat", "dog", "truck"]).matrix)
    assert "nothing is written" in run("build", "lda", "--data", "digits")


def test_build_prices() -> None:
    said = run("build", "squared", "--cost", "--space", "low<mid<high", "-o", "c.safetensors")
    assert "true low called high costs 4" in said
    assert LabelSpace.load("c.safetensors").matrix.tolist() == [[0, 1, 4], [1, 0, 1], [4, 1, 0]]
    assert json.loads(run("build", "c.safetensors", "--cost", "--json"))["words"] == "prices: squared distance"


def test_build_reads_a_table_by_its_label() -> None:
    rows = [f"{number},{['well', 'ill'][number % 2]}" for number in range(40)]
    Path("patients.csv").write_text("age,state\n" + "\n".join(rows))
    found = json.loads(run("build", "ill<well", "--data", "patients.csv", "--label", "state", "--json"))
    assert found["words"] == "order: ill < well"


def test_show_names_the_nearest_and_draws_a_picture() -> None:
    said = run("show", "tree.txt")
    assert said.startswith("tree: 3 classes in 2 groups, depth 2\nrelations of 3 classes\n")
    # cat–dog 2 edges, cat–bus 4: masses 0.5² and 0.5⁴, so 0.8 and 0.2
    assert "  cat  dog (0.8)  bus (0.2)\n" in said
    # quarters of the largest, 0.8: 0.2 is the second shade of four, 0.5 the third
    assert "0 cat    ██▒▒\n1 dog  ██  ▒▒\n2 bus  ▓▓▓▓\ndarker: more mass\n" in said
    only = run("show", "tree.txt", "--class", "dog", "-k", "1")
    assert "  dog  cat (0.8)\n" in only
    assert "darker" not in only


def test_show_of_many_classes_has_no_picture() -> None:
    said = run("show", "uniform", "--classes", "21")
    assert "darker" not in said
    assert len(said.splitlines()) == 4 + 21


def test_show_of_a_thousand_and_more_lists_a_few() -> None:
    rule = LowRank(torch.zeros(1500, 1), torch.zeros(1, 1500))
    LabelSpace([f"word {place}" for place in range(1500)], rule, "relations", {"builder": "lls"}).save("a.safetensors")
    said = run("show", "a.safetensors", "-k", "2").splitlines()
    assert said[:2] == ["lls: 1500 classes", "relations of 1500 classes, compressed (low-rank)"]
    # all products are 0: 1/1500 each, the first of equals first
    assert said[4] == "  word 0  word 1 (0.000667)  word 2 (0.000667)"
    assert said[-1] == "  … and 1,490 more: see one with --class NAME"
    assert len(said) == 4 + 10 + 1
    found = json.loads(run("show", "a.safetensors", "--class", "word 7", "--json"))
    assert (list(found["nearest"]), found["form"]) == (["word 7"], "low-rank")
    assert run("subset", "a.safetensors", "word 3,word 1", "-o", "b.safetensors").startswith("2 of 1500 classes")
    torch.testing.assert_close(LabelSpace.load("b.safetensors").matrix, torch.full((2, 2), 0.5))
    assert "no class differs" in run("diff", "b.safetensors", "b.safetensors")


def test_diff_of_compressed_spaces() -> None:
    # classes give all to the next, and in the second space half of it to everyone
    names, places = tuple("abcd"), (torch.arange(4)[:, None] + 1) % 4
    LabelSpace(names, TopRows(places, torch.ones(4, 1), torch.zeros(4)), "relations").save("a.safetensors")
    LabelSpace(names, TopRows(places, torch.full((4, 1), 0.5), torch.full((4,), 0.5)), "relations").save(
        "b.safetensors"
    )
    found = json.loads(run("diff", "a.safetensors", "b.safetensors", "--json"))
    assert [row["amount"] for row in found["rows"]] == pytest.approx([0.5] * 4)
    assert (found["rows"][0]["name"], found["rows"][0]["about"]) == ("a", "b")


def test_show_prints_json() -> None:
    found = json.loads(run("show", "tree.txt", "--class", "cat", "-k", "1", "--json"))
    assert found["kind"] == "relations"
    assert found["source"]["file"] == "tree.txt"
    assert found["nearest"] == {"cat": [{"class": "dog", "mass": pytest.approx(0.8)}]}
    prices = json.loads(run("show", "under=5,over=1", "--cost", "--classes", "1,2", "--json"))
    assert prices["nearest"] == {"1": [{"class": "2", "cost": 1}], "2": [{"class": "1", "cost": 5}]}


def test_what_wordnet_does_not_know_is_a_note() -> None:
    result = CliRunner().invoke(app, ["show", "wordnet", "--classes", "cat,dog,qwzx"])
    assert result.exit_code == 0
    assert "WordNet: 2 of 3 names mapped" in result.stdout
    assert result.stderr.startswith("note: WordNet has no noun for 'qwzx'")


TOOLS = ["--classes", "crane,bat,mouse,saw"]


def test_show_lists_senses_doubtful_ones_first() -> None:
    said = run("show", "wordnet", *TOOLS).splitlines()
    start = said.index("senses, doubtful ones (?) first; --senses NAME=SENSE chooses another")
    listed = [line.split()[:3] for line in said[start + 1 : start + 8] if not line.startswith("    ")]
    assert listed[0] == ["?", "crane", "crane.n.01"]
    assert ["?", "saw", "proverb.n.01"] in listed
    assert listed[-1] == ["bat", "bat.n.01", "bat,"]
    assert any("? saw.n.02 (saw: hand tool › tool) is nearer to the other classes" in line for line in said)
    told = json.loads(run("show", "wordnet", *TOOLS, "--json"))["senses"]
    assert [(each["name"], bool(each["doubt"])) for each in told][-1] == ("bat", False)
    assert (told[-1]["nearest"], told[-1]["steps"]) == ("mouse", 3)
    assert "senses" not in json.loads(run("show", "tree.txt", "--json"))


def test_senses_are_given_one_by_one_or_in_a_file() -> None:
    Path("senses.txt").write_text("# birds\ncrane = crane.n.05\n")
    run("build", "wordnet", *TOOLS, "--senses", "saw=saw.n.02", "--senses", "senses.txt", "-o", "w.safetensors")
    built = LabelSpace.load("w.safetensors")
    expected = wordnet(["crane", "bat", "mouse", "saw"], senses={"saw": "saw.n.02", "crane": "crane.n.05"})
    assert built.source == expected.source
    assert built.hops is not None
    torch.testing.assert_close(built.hops, expected.hops)
    said = run("show", "w.safetensors")
    assert "crane: wading bird › aquatic bird (given)" in said
    another = run("show", "wordnet", *TOOLS, "--senses", "bat=hammer.n.02")
    assert "bat by another word's" in another
    assert "hammer: hand tool › tool (given, another word's)" in another
    priced = run("build", "tree", "--cost", "--space", "wordnet", *TOOLS, "--senses", "saw=saw.n.02", "--json")
    assert json.loads(priced)["kind"] == "cost"


def test_names_with_markup_and_lines_are_shown_as_text() -> None:
    LabelSpace(("[b]well", "i\nll"), torch.eye(2).flip(0), "relations").save("odd.safetensors")
    assert "  [b]well  i ll (1)" in run("show", "odd.safetensors")


def test_diff_says_where_two_spaces_differ() -> None:
    run("build", "low<mid<high<top", "-o", "a.safetensors")
    same = run("diff", "a.safetensors", "low<mid<high<top")
    assert "agreement 1.000" in same
    assert "no class differs" in same
    found = json.loads(run("diff", "a.safetensors", "mid<low<high<top", "--json", "-k", "1"))
    assert -1 <= found["agreement"] < 1
    assert len(found["rows"]) == 1
    assert found["differing"] == 4
    # by hand: rows of low are (mid 6, high 3, top 2)/11 and, with low in second place, (2, 2, 1)/5
    rows = json.loads(run("diff", "a.safetensors", "mid<low<high<top", "--json"))["rows"]
    low = next(row for row in rows if row["name"] == "low")
    assert low["amount"] == pytest.approx(6 / 11 - 2 / 5, abs=1e-6)
    assert (low["about"], low["first"], low["second"]) == ("mid", pytest.approx(6 / 11), pytest.approx(0.4))


def test_diff_says_which_space_is_wrong_and_speaks_of_no_data() -> None:
    for second in ("low<mid<top", "groups:low,mid|high,tpo", "low<mid"):
        result = CliRunner().invoke(app, ["diff", "low<mid<high", second])
        assert result.exit_code == 2
        assert "`second` of labels diff must be" in result.output
        assert "the data" not in result.output


def test_diff_of_prices_and_of_flat_spaces() -> None:
    cost([[0, 1], [1, 0]], ["a", "b"]).save("a.safetensors")
    cost([[0, 1], [5, 0]], ["a", "b"]).save("b.safetensors")
    said = run("diff", "a.safetensors", "b.safetensors")
    assert "agreement cannot be measured" in said
    assert "1 class differs; most (largest change of a price):\n  b  4  most about a: 1 → 5" in said


def test_subset() -> None:
    run("build", "low<mid<high", "-o", "a.safetensors")
    assert run("subset", "a.safetensors", "high,low", "-o", "b.safetensors") == (
        "2 of 3 classes written to b.safetensors\n"
    )
    assert LabelSpace.load("b.safetensors").names == ("high", "low")
    found = json.loads(run("subset", "a.safetensors", "mid", "low", "-o", "c.safetensors", "--json"))
    assert found["classes"] == ["mid", "low"]


def test_templates_are_read_back() -> None:
    names = [str(index) for index in range(10)]
    for options in ([], ["--long"]):
        Path("prices.csv").write_text(run("template", "digits", "--cost", *options))
        torch.testing.assert_close(prices("prices.csv", names).matrix, prices("uniform", names).matrix)
    Path("taxonomy.txt").write_text(run("template", "digits", "--space"))
    space = taxonomy("taxonomy.txt", names)
    assert space.hops is not None
    torch.testing.assert_close(space.hops, 2 * (1 - torch.eye(10, dtype=torch.int64)))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["build", "wordnett", "--classes", "cat"], "Did you mean 'wordnet'?"),
        (
            ["build", "wordnet"],
            "`wordnet` must be given with the classes that it is to relate. Got none. Say --classes",
        ),
        (["show", "wordnet"], "Say --classes cat,dog,car, or take them from a dataset with --data NAME."),
        (["show", "wordnet", "--senses", "saw=saw.n.02"], "`wordnet` must be given with the classes"),
        (["show", "lda"], "Got none. Say --data NAME."),
        (["show", "wordnet", *TOOLS, "--senses", "cow=cow.n.01"], "The classes are: 'crane', 'bat', 'mouse', 'saw'"),
        (["show", "wordnet", *TOOLS, "--senses", "saw=saw.n.09"], "saw.n.02 (saw: hand tool › tool)"),
        (["show", "wordnet", *TOOLS, "--senses", "saw=9"], "`--senses` must be sense numbers up to 3 for 'saw'"),
        (["show", "wordnet", *TOOLS, "--senses", "nowhere.txt"], "Got 'nowhere.txt', which is no file"),
        (["show", "wordnet", *TOOLS, "--senses", "tree.txt"], "Got 'pets > cat' (tree.txt, line 1)"),
        (["show", "uniform", *TOOLS, "--senses", "saw=saw.n.02"], "`--senses` must be given with the space 'wordnet'"),
        (["build", "squared", "--cost"], "Give --classes, --data, or --space"),
        (["build", "nowhere.txt"], "does not exist"),
        (["build", "nowhere.safetensors"], "no label file"),
        (["build", "tree.txt", "--classes", "cat,dog,bus,tram"], "nothing for 'tram'"),
        (["build", "tree.txt", "--classes", "cat,dog"], "'bus' (road > bus, line 3), which is none of the classes"),
        (["build", "uniform", "--classes", "a,b", "--data", "digits"], "left out where the classes come from data"),
        (["build", "uniform", "--classes", "a,a"], "'a' more than once"),
        (["build", "uniform", "--classes", ","], "at least one class"),
        (["build", "tree.txt", "-o", "tree.csv"], "ends in .safetensors"),
        (["build", "tree.txt", "-o", "no/folder.safetensors"], "There is no folder no"),
        (["build", "tree.txt", "--space", "ordinal"], "left out without --cost"),
        (["build", "uniform", "--data", "nowhere"], "nowhere"),
        (["build", "uniform", "--data", "digits", "--label", "x"], "`--label` must be"),
        (["build", "uniform", "--data", "digits", "--data-option", "x"], "`--data-option` must be NAME=VALUE"),
        (["show", "tree.txt", "--class", "catt"], "Did you mean 'cat'?"),
        (["show", "tree.txt", "-k", "0"], "at least 1"),
        (["show", "tree.txt", "--cost", "--classes", "cat,dog"], "`cost`"),
        (["diff", "tree.txt", "cat<dog"], "nothing for 'bus'"),
        (["diff", "tree.txt", "wordnet", "-k", "0"], "at least 1"),
        (["subset", "tree.txt", "cat,dgo", "-o", "x.safetensors"], "Did you mean 'dog'?"),
        (["template", "digits"], "--cost or --space. Got neither"),
        (["template", "digits", "--cost", "--space"], "Got both"),
    ],
)
def test_bad_input_is_one_line_and_code_2(arguments: list[str], message: str) -> None:
    result = CliRunner().invoke(app, arguments)
    assert result.exit_code == 2, result.output
    assert message in result.stderr
    assert len(result.stderr.strip().splitlines()) == 1
    assert "Traceback" not in result.output


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a place that cannot be written")
def test_a_place_that_cannot_be_written(tmp_path: Path) -> None:
    folder = tmp_path / "closed"
    folder.mkdir()
    folder.chmod(0o500)
    # the superuser may write anywhere but into the kernel's own folders
    out = "/proc/x.safetensors" if os.geteuid() == 0 else str(folder / "x.safetensors")
    result = CliRunner().invoke(app, ["build", "tree.txt", "-o", out])
    assert result.exit_code == 2
    assert "`out` of labels must be a file that can be written" in result.stderr


@pytest.mark.parametrize("command", ["build", "show", "diff", "subset", "template"])
def test_help_has_an_example(command: str) -> None:
    assert "Example: labelspace labels" in run(command, "--help")
