"""The pages are wrapped, and wrapping leaves code, tables and formulas alone."""

import pytest

from docs.wrapped import ROOT, WIDTH, pages, wrapped

LONG = " ".join(["word"] * 60)


@pytest.mark.parametrize("page", pages(), ids=lambda page: str(page.relative_to(ROOT)))
def test_a_page_is_wrapped(page):
    text = page.read_text(encoding="utf-8")
    assert wrapped(text) == text, "python docs/wrapped.py"


@pytest.mark.parametrize(
    "kept",
    [
        f"```\n{LONG}\n```", f"~~~python\n{LONG}\n~~~", f"| a | b |\n| --- | --- |\n| {LONG} | b |", f"# {LONG}",
        f"$$\n{LONG}\n$$", f"<!-- {LONG} -->", f"![{LONG}](a.svg)", f"```{{note}}\n{LONG}\n```", f":alt: {LONG}",
    ],
)  # fmt: skip
def test_what_is_not_prose_stays(kept):
    assert wrapped(f"{kept}\n") == f"{kept}\n"


def test_prose_is_filled_and_its_words_stay():
    text = f"{LONG}\n\n* {LONG}\n  {LONG}\n  1. {LONG}\n\n:::{{note}}\n{LONG}\n:::\n"
    filled = wrapped(text)
    assert max(map(len, filled.splitlines())) <= WIDTH
    assert filled.split() == text.split()
    assert wrapped(filled) == filled
    assert "\n  word" in filled
    assert "\n     word" in filled


@pytest.mark.parametrize("whole", ["`a b c`", "$a + b - c$", '[a](b "c d")'])
def test_code_and_formulas_are_not_broken(whole):
    for before in range(80, 100):
        assert whole in wrapped(f"{'x' * before} {whole} {LONG}")


@pytest.mark.parametrize("sign", ["-", "+", "*", "#", "1.", "%", ">", "|", "="])
def test_no_line_begins_with_a_sign_of_markdown(sign):
    for before in range(80, 100):
        lines = wrapped(f"{'x' * before} {sign} {LONG}").splitlines()
        assert not any(line.startswith(sign) for line in lines)
