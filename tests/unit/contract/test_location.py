import pytest
from hypothesis import given
from hypothesis import strategies as st

from gristmill.contract.location import locate


@pytest.mark.parametrize(
    ("uri", "root", "prefix", "pattern"),
    [
        ("/data/in/", "/data/in", "", None),
        ("/data/in", "/data", "in", None),
        ("/data/*.jsonl", "/data", "", "*.jsonl"),
        ("/data/day=*/x/**/part-?.jsonl", "/data", "", "day=*/x/**/part-?.jsonl"),
        ("s3://bucket", "s3://bucket", "", None),
        ("s3://bucket/", "s3://bucket", "", None),
        ("s3://bucket/a/b", "s3://bucket/a", "b", None),
        ("s3://bucket/a/", "s3://bucket/a", "", None),
        ("s3://bucket/*.gz", "s3://bucket", "", "*.gz"),
        ("/a b/c#d%2Fe+f", "/a b", "c#d%2Fe+f", None),
        ("/x", "/", "x", None),
    ],
)
def test_a_uri_is_a_root_and_a_rule(uri: str, root: str, prefix: str, pattern: str | None) -> None:
    where = locate(uri)
    assert (where.root, where.prefix, where.pattern) == (root, prefix, pattern)
    assert where.names_one == (bool(prefix) and pattern is None)


@pytest.mark.parametrize(
    ("uri", "matched", "others"),
    [
        ("/d/", ["a", "b/c", "x y#?%2F+"], []),
        ("/d/in", ["in", "in/a", "in/b/c"], ["in2", "inside/a", "a/in"]),
        ("/d/*.jsonl", ["a.jsonl", ".jsonl"], ["a.json", "b/a.jsonl", "a.jsonl.gz"]),
        ("/d/**/*.jsonl", ["a.jsonl", "b/a.jsonl", "b/c/a.jsonl"], ["a.json"]),
        ("/d/**", ["a", "b/c"], []),
        ("/d/a?c", ["abc", "a?c"], ["ac", "a/c", "abbc"]),
        ("/d/[a-c]1", ["a1", "b1"], ["d1", "-1"]),
        ("/d/[!a-c]1", ["d1", "é1"], ["a1", "/1"]),
        ("/d/[]x]", ["]", "x"], ["y"]),
        ("/d/x[1].jsonl", ["x1.jsonl", "x[1].jsonl"], ["x2.jsonl"]),
        ("/d/a[", ["a["], ["a"]),
        ("/d/[z-a]", ["[z-a]"], ["z", "a", "m"]),
        ("/d/[!z-a]", ["q"], ["/"]),
        ("/d/*", ["a\nb", "x(y){z}|^$"], ["a/b"]),
        ("/d/a.b*", ["a.b"], ["axb"]),
        (r"/d/[\d]*", [r"\1", "d"], ["1"]),
    ],
)
def test_globs_mean_what_shells_mean(uri: str, matched: list[str], others: list[str]) -> None:
    where = locate(uri)
    assert [key for key in matched if not where.matches(key)] == []
    assert [key for key in others if where.matches(key)] == []


@given(st.text(min_size=1, max_size=12).filter(lambda key: "/" not in key.strip("/")))
def test_any_name_means_itself(name: str) -> None:
    key = name.strip("/")
    if key:
        assert locate(f"/d/{key}").matches(key)


@given(st.text(alphabet="ab*?[]!^-&~|/\\", max_size=10))
def test_no_glob_is_an_error(pattern: str) -> None:
    assert locate(f"/d/{pattern}").matches("abc") in (True, False)
