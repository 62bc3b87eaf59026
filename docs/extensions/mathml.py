"""Formulas as MathML, made when the pages are built: every browser shows them without scripts and network."""

from __future__ import annotations

import re
from typing import Any

from latex2mathml.converter import convert

LONG = 50  # characters of LaTeX beyond which a formula may be wider than a telephone
LETTERS = {
    "R": "ℝ",
    "Z": "ℤ",
    "N": "ℕ",
    "Q": "ℚ",
    "E": "𝔼",
    "P": "ℙ",
}  # browsers have no double-struck variant
SIGNS = {r"\{": "{", r"\}": "}", r"\lceil": "⌈", r"\rceil": "⌉", r"\lfloor": "⌊", r"\rfloor": "⌋", r"\lvert": "|",
         r"\rvert": "|", r"\lVert": "‖", r"\rVert": "‖", r"\lbrace": "{", r"\rbrace": "}"}  # fmt: skip

NAMES = re.compile(
    r"(</(?:mi|mn|mfrac|msup|msub|msqrt)>|)(?<!<msub>)(?<!<msup>)<mi>(ln|log|sin|cos|sinh|cosh|tan)</mi>"
    r"(<(?:mi|mn|mfrac|msup|msub|msqrt)\b|)"
)


def mathml(latex: str, *, display: bool = False) -> str:
    """A formula as MathML; ValueError where a command is not understood.

    Example:
        >>> mathml("x")
        '<math xmlns="http://www.w3.org/1998/Math/MathML" display="inline"><mrow><mi>x</mi></mrow></math>'
    """
    text = re.sub(r"\\mathbb\s*\{?([A-Z])\}?", lambda found: LETTERS[found.group(1)], latex.strip())
    text = text.replace(r"\arg\max", r"\operatorname{argmax}")
    text = re.sub(r"\\operatorname\{(\w+)\}", r"\\mathrm{\1}\\,", text)
    made = convert(text, display="block" if display else "inline")
    for command, sign in SIGNS.items():
        made = made.replace(f">{command}<", f">{sign}<")
    made = re.sub(r"<mn>(\d+)</mn><mrow><mo>&#x0002C;</mo></mrow>(?=<mn>)", r"<mn>\1,</mn>", made)
    made = re.sub(r"(\d,)</mn><mn>(?=\d)", r"\1", made)
    made = re.sub(r'(?:<mi mathvariant="normal">\w</mi>){2,}', _one_word, made)
    made = re.sub(r"<mo( [^>]*)?>(&#x0002F;|&#x0007C;|&#x02016;|‖|\|)</mo>", _close, made)
    made = re.sub(r"<msqrt>((?:<mrow>)?<mi>\w</mi>(?:</mrow>)?)</msqrt>", _tall, made)
    made = NAMES.sub(_apart, made)
    left = re.search(r">(\\[^<]*)<", made)
    if left:
        raise ValueError(f"{left.group(1)} in {latex}")
    return made


def _close(found: re.Match[str]) -> str:
    """Bars and strokes without the room that an operator has, and both bars of a pair equally tall."""
    said = found.group(1) or ""
    still = "" if "stretchy" in said else ' stretchy="false"'
    return f'<mo{said}{still} lspace="0" rspace="0">{found.group(2)}</mo>'


def _apart(found: re.Match[str]) -> str:
    """The name of a function, apart from letters and numbers beside it: e ln 2, not eln2."""
    before, name, after = found.groups()
    room = '<mspace width="0.17em"></mspace>'
    return f"{before}<mrow>{room if before else ''}<mi>{name}</mi>{room if after else ''}</mrow>{after}"


def _tall(found: re.Match[str]) -> str:
    """A root of one low letter as tall as its sign, which else sinks below the line."""
    return f'<msqrt><mpadded height="0.75em">{found.group(1)}</mpadded></msqrt>'


def _one_word(found: re.Match[str]) -> str:
    return "<mi>" + "".join(re.findall(r">(\w)<", found.group())) + "</mi>"


def _inline(writer: Any, node: Any) -> None:
    from docutils.nodes import SkipNode

    long = " long" if len(node.astext()) > LONG else ""
    writer.body.append(f'<span class="math{long}">{mathml(node.astext())}</span>')
    raise SkipNode


def _display(writer: Any, node: Any) -> None:
    from docutils.nodes import SkipNode

    writer.body.append(writer.starttag(node, "div", CLASS="math"))
    writer.body.append(f"{mathml(node.astext(), display=True)}</div>\n")
    raise SkipNode


def setup(app: Any) -> dict[str, bool]:
    """Tell Sphinx."""
    app.add_html_math_renderer("mathml", (_inline, None), (_display, None))
    return {"parallel_read_safe": True, "parallel_write_safe": True}
