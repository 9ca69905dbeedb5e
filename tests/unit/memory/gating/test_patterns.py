"""What each gate pattern fires on, in both pattern sets (spec 04 §3 and §4)."""

import pytest

from lithify.memory.gating.patterns import PATTERN_SETS, count_matches, fires

GP1, GP2 = PATTERN_SETS["gp1"], PATTERN_SETS["gp2"]


FIRING = {
    "t1": ["```\nx\n```", "a ```b``` c"],
    "t2": ["a/b", "./a", "../x/y.py", "and/or", "2/15"],
    "t3": ["func", "def f", "a class", "open (x)", "_x("],
    "t4": ["$ ls", "text\n  $ ls", "git status", "main.go", "make it"],
    "t5": ["http://a", "https://a.b/c", "and/or", "/etc"],
    "t6": ["Goroutine 17", "STACK TRACE", "Traceback", "at main.go:42", "panic:oops", "exception:x"],
    "t7": ["1a2b3c4", "0xFF", "a" * 40],
    "d1": ["2026-06-01", "1/2/26", "01/02/2026"],
    "d2": ["3", "3.14", "on 12."],
    "d3": ["Dr. Who", "mr bean", "my manager said", "MRS Hall", "my friend bo"],
    "d4": ["I prefer it", "MY FAVORITE song", "i enjoy it"],
    "d5": ["i work at a bank", "my name is Bo", "I live in Oslo", "I am", "I have"],
    "q1": ["f(", "a.b (", "x.y.z("],
    "q2": ["ERR_X", "every", "E42", "http  404", "500 people"],
    "q3": ["1a2b3c4", "HEAD", "the main idea", "master", "origin/dev-1.x"],
    "a1": ["switched to", "Use tabs instead", "migrated to", "replaced with", "decided to", "standardize on"],
    "a2": ["fixed", "Resolved", "patched", "corrected", "unblocked"],
    "a3": ["deployed", "merged", "released", "Shipped", "rolled out"],
    "a4": ["set retries to 3", "configured", "configuration changed", "env var", "Environment var"],
    "s1": ["struct", "Interface", "type", "enum", "map[string]"],
    "s2": ["import x", "require", "go.mod", "package.json", "dependency", "depends on"],
    "s3": ["func TestX", "test(x)", "it(a", "describe(b"],
    "s4": ["// note", "x\n  // note", "/** doc", "a /// b"],
}


SILENT = {
    "t1": ["``````", "```x", "`x`"],
    "t2": ["a", "/a", "a / b", "a//b"],
    "t3": ["define", "subclass", "1 (", "- ("],
    "t4": ["costs $5", "gitlab", "Git", "going"],
    "t5": ["ftp:x", "a / b", "http:x"],
    "t6": ["panic: oops", "Exception: bad", "goroutine x", "at 5", "attack:1", "stack"],
    "t7": ["1a2b3c", "ABCDEF1", "a" * 41, "0xZZ", "10x5"],
    "d1": ["2026-6-1", "12026-06-01", "1/2/3", "1/2"],
    "d2": ["a3", "3rd", "none"],
    "d3": ["Dr. X", "drum roll", "my car said", "mr."],
    "d4": ["hi prefer", "i preferred", "my favorites"],
    "d5": ["i amuse", "my is", "i lived in", "my old name is"],
    "q1": ["f", "a.b", "5("],
    "q2": ["he", "E4", "be", "399", "600", "5000"],
    "q3": ["HEADS", "remaining", "head", "origin"],
    "a1": ["use it", "use instead", "instead use it", "use it\nnow instead", "reuse x instead"],
    "a2": ["fixes", "prefixed"],
    "a3": ["deploy", "emerged"],
    "a4": ["set to 3", "set 3 to", "reconfigured", "environment variable"],
    "s1": ["types", "map[]", "map"],
    "s2": ["important", "gomod", "packagexjson"],
    "s3": ['it("works")', "exit(x)", "func Test", "latest(x)"],
    "s4": ["http://x", "a // b", "/* x */"],
}


@pytest.mark.parametrize(("name", "text"), [(name, text) for name, texts in FIRING.items() for text in texts])
def test_gp1_fires(name: str, text: str) -> None:
    assert fires(GP1[name], text)


@pytest.mark.parametrize(("name", "text"), [(name, text) for name, texts in SILENT.items() for text in texts])
def test_gp1_stays_silent(name: str, text: str) -> None:
    assert not fires(GP1[name], text)


def test_every_pattern_has_both_kinds_of_example() -> None:
    assert set(FIRING) == set(SILENT) == set(GP1) == set(GP2)


def test_gp2_replaces_exactly_seven_patterns() -> None:
    replaced = {name for name in GP1 if GP1[name] is not GP2[name]}
    assert replaced == {"t2", "t4", "t5", "t6", "d3", "q2", "s3"}


GP2_FIRING = {
    "t2": ["/a", "./run", "../x", "(/etc/hosts)", "src/a.py", "See src/a.py.", "a/b/c", "~/notes"],
    "t4": ["$ ls", "git", "go test ./...", "go  build", "make", "make all", "cd x && make x", "`make ", "x\n make"],
    "t5": ["http://a", "/etc", "GET /v1/turns"],
    "t6": ["panic: oops", "Exception: bad", "panic:oops", "goroutine 5", "stack trace", "traceback", "at a.go:1"],
    "d3": ["Dr. Who", "MR Bean", "My Manager Ada", "prof. Okafor"],
    "q2": ["ERR_X", "EINVAL", "E42", "Http 404", "500 people"],
    "s3": ['it("works")', "test(x)", "describe('a')", "func TestX("],
}


GP2_SILENT = {
    "t2": ["and/or", "km/h", "2/15", "12/05/2026", "1.2/3-4/5", "https://x.y/a/b", "C:/x/y", "a/b", "/5", "x/1.2"],
    "t4": ["I want to go home", "main.go", "we make it so", "cmake", "makefile", "go-test", "let us go"],
    "t5": ["and/or", "2/15", "../x", "a//b", "// note"],
    "t6": ["panic", "dispanic: x", "goroutine x", "at 5", "attack:1"],
    "d3": ["my manager said", "dr who", "Dr. W"],
    "q2": ["every", "error", "err_x", "Exams", "ERR_x", "600"],
    "s3": ["exit(1)", "latest(x)", "func Test"],
}


@pytest.mark.parametrize(("name", "text"), [(n, text) for n, texts in GP2_FIRING.items() for text in texts])
def test_gp2_fires(name: str, text: str) -> None:
    assert fires(GP2[name], text)


@pytest.mark.parametrize(("name", "text"), [(n, text) for n, texts in GP2_SILENT.items() for text in texts])
def test_gp2_stays_silent(name: str, text: str) -> None:
    assert not fires(GP2[name], text)


@pytest.mark.parametrize(
    ("name", "text", "gp1", "gp2"),
    [
        ("t2", "a/b c/d.py /x/y, e/f/g", 4, 3),
        ("t5", "src/a/b.py http://a/b /x", 3, 2),
        ("q1", "a.b.c(d(e) f)", 2, 2),
        ("q2", "every ERR_A error HTTP 500, 404", 5, 3),
        ("q3", "origin/main HEAD main 1a2b3c4d", 4, 4),
    ],
)
def test_matches_are_counted_without_overlap(name: str, text: str, gp1: int, gp2: int) -> None:
    assert (count_matches(GP1[name], text), count_matches(GP2[name], text)) == (gp1, gp2)
