"""Texts in folders and tar files, by name."""

import gzip
import shutil
import subprocess
import tempfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from labelspace._checks import InputError
from labelspace.data.text_files import tree_of
from parallel_text import write_tar


def test_a_folder_its_tars_and_what_wins(tmp_path):
    (tmp_path / "a.en").write_text("own\n")
    (tmp_path / "b.en.gz").write_bytes(gzip.compress(b"packed\n"))
    (tmp_path / ".hidden").write_text("no")
    (tmp_path / "below").mkdir()
    write_tar(tmp_path / "z.tgz", {"deep/a.en": "of the tar\n", "c.en": "c\n", "._c.en": "no"})
    tree = tree_of(tmp_path)
    assert {name: file.lines() for name, file in tree.items()} == {"a.en": ["own"], "b.en": ["packed"], "c.en": ["c"]}
    assert list(tree_of(tmp_path / "a.en")) == ["a.en"]


def test_what_is_gzipped_inside_of_a_tar_is_found(tmp_path, monkeypatch):
    packed = gzip.compress("ä\nb\n".encode())
    tree = tree_of(write_tar(tmp_path / "a.tar", {"deep/x.en.gz": packed, "y.en": "c\n"}))
    assert {name: file.lines() for name, file in tree.items()} == {"x.en": ["ä", "b"], "y.en": ["c"]}
    with pytest.raises(InputError, match=r"texts have different names\. Got b\.tar with x\.en and x\.en\.gz"):
        tree_of(write_tar(tmp_path / "b.tar", {"x.en": "a\n", "x.en.gz": packed}))
    for spoilt in (b"no gzip", packed[:-9]):
        with pytest.raises(InputError, match=r"a readable x\.en\.gz"):
            tree_of(write_tar(tmp_path / "c.tar", {"x.en.gz": spoilt}))["x.en"].lines()
    monkeypatch.setenv("LABELSPACE_MAX_UNPACKED", "100K")
    with pytest.raises(InputError, match=r"unpacks to at most 102,400 bytes"):
        tree_of(write_tar(tmp_path / "d.tar", {"x.en.gz": gzip.compress(bytes(200_000))}))["x.en"].lines()


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
def test_encodings_and_ends_of_lines(tmp_path, encoding):
    path = tmp_path / "a.txt"
    path.write_bytes("ä\u2028b\r\n\nc\x85".encode(encoding))
    assert tree_of(path)["a.txt"].lines() == ["ä\u2028b", "", "c\x85"]


def test_what_is_no_text_names_the_file(tmp_path):
    path = write_tar(tmp_path / "a.tar", {"x.en": "a\0b"})
    with pytest.raises(InputError, match=r"readable x\.en\. Got a file that is not text"):
        tree_of(path)["x.en"].lines()
    (tmp_path / "b.tar").write_bytes(b"no tar")
    with pytest.raises(InputError, match=r"readable b\.tar\. Got no tar file"):
        tree_of(tmp_path / "b.tar")
    (tmp_path / "c.gz").write_bytes(b"no gzip")
    with pytest.raises(InputError, match=r"readable c\.gz"):
        tree_of(tmp_path / "c.gz")["c"].lines()
    (tmp_path / "d.txt").write_bytes("a\nb\nä".encode("latin-1"))
    with pytest.raises(InputError, match=r"not UTF-8 \(line 3\)\. Put it there as UTF-8 .*iconv -f WINDOWS-1252"):
        tree_of(tmp_path / "d.txt")["d.txt"].lines()


@pytest.mark.skipif(shutil.which("iconv") is None, reason="needs iconv")
@pytest.mark.parametrize("ending", ["", ".gz"])
def test_the_remedy_for_another_encoding_can_be_run_as_it_is(tmp_path, ending):
    """The name of a file says which part and language it is, so that a copy of another name would not be read."""
    content = "schön\n".encode("latin-1")
    (tmp_path / f"train.de{ending}").write_bytes(gzip.compress(content) if ending else content)
    with pytest.raises(InputError) as caught:
        tree_of(tmp_path)["train.de"].lines()
    subprocess.run(caught.value.remedy.partition("for example: ")[2], shell=True, check=True)
    assert tree_of(tmp_path)["train.de"].lines() == ["schön"]
    assert len(list(tmp_path.iterdir())) == 2


@given(st.binary(max_size=60))
def test_any_bytes_are_lines_or_one_clear_error(content):
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "a.txt"
        path.write_bytes(content)
        try:
            lines = tree_of(path)["a.txt"].lines()
        except InputError:
            return
        assert not any("\n" in line for line in lines)
        if not content.startswith((b"\xff\xfe", b"\xfe\xff")):
            assert len(lines) in (content.count(b"\n"), content.count(b"\n") + 1)
