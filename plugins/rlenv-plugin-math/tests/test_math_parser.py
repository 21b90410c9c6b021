"""One value, many notations: each gets one tree."""

from __future__ import annotations

from fractions import Fraction

import pytest
from rlenv_plugin_math.parser import parse
from rlenv_plugin_math.tree import (
    Add,
    Based,
    Call,
    Choice,
    Clock,
    Const,
    Date,
    Div,
    Items,
    Logic,
    Matrix,
    Mod,
    Mul,
    NamedSet,
    Neg,
    Node,
    Num,
    Piecewise,
    Pow,
    Quantity,
    Ratio,
    Rel,
    Seq,
    SetOf,
    SetOp,
    Sym,
    Text,
)

X = Sym("x")
Y = Sym("y")


def n(value: int | str, decimals: int | None = None) -> Num:
    return Num(Fraction(value), decimals)


# every line: notations that are one and the same, by hand
SAME = r"""
1/2 ; \frac{1}{2} ; \dfrac12 ; \tfrac{1}2 ; \cfrac1{2} ; {1 \over 2} ; ½ ; 1⁄2 ; １/２ ; $\frac 12$ ; one half ; \frac{ 1 }{ 2 } ; 1 \div 2
2\frac{1}{3} ; 2 1/3 ; 2⅓ ; 2 \tfrac13 ; $2\,\frac13$ ; two and a third
-5 ; −5 ; –5 ; - 5 ; (-5) ; -(5) ; negative five ; minus five ; \text{-5}
1234567 ; 1,234,567 ; 1{,}234{,}567 ; 1\,234\,567 ; 1 234 567 ; 1,\!234,\!567 ; $1{,}234{,}567$ ; １，２３４，５６７
0.5 ; .5 ; 0{,}5 ; 0{.}5 ; ٠٫٥
0.\overline{3} ; 0.(3) ; 0.333... ; 0.\dot{3} ; .\overline{3} ; 0.\bar{3} ; 0.333\ldots ; 0.3333…
0.\overline{142857} ; 0.\dot{1}4285\dot{7} ; 0.142857142857...
0.1\overline{6} ; 0.1(6) ; 0.1666...
120000 ; 1.2e5 ; 1.2 \times 10^5 ; 1.2×10⁵ ; 1.2 \cdot 10^{5} ; 1.2 x 10^5 ; 1.2*10**5
50\% ; 50% ; 50 percent ; 50 \text{ percent} ; fifty percent ; 50 per cent ; $50\%$ ; 50％
\$5 ; $5 ; 5 dollars ; 5 USD ; USD 5 ; five dollars ; \text{\$}5 ; $5$ dollars ; ＄5
€40 ; 40€ ; 40 euros ; 40 EUR
\$1.2 million ; $1.2 million ; \$1,200,000 ; 1200000 dollars
5\text{ cm} ; 5 cm ; 5cm ; 5\,\mathrm{cm} ; 5~\text{centimeters} ; 5 \mathrm{~cm} ; five centimetres ; 5\operatorname{cm}
24\text{ cm}^2 ; 24 cm² ; 24 square centimeters ; 24 sq cm ; 24 sq. cm ; 24\ \text{cm}^{2} ; 24 centimeters squared
60 km/h ; 60 kilometers per hour ; 60\text{ km}/\text{h} ; 60\,\frac{\text{km}}{\text{h}} ; 60 \text{ km h}^{-1} ; 60 km h^{-1}
90^\circ ; 90° ; 90^{\circ} ; 90 degrees ; 90\degree ; 90º ; {90}^\circ
25 °C ; 25^\circ\text{C} ; 25℃ ; 25^{\circ} C ; 25 degrees Celsius
5 apples ; 5 \text{ apples} ; five apples ; 5 apple
2 hours 30 minutes ; 2 hours and 30 minutes ; 2 hr 30 min ; 2 hours, 30 minutes
5 feet 3 inches ; 5 ft 3 in ; 5'3" ; 5' 3'' ; 5 feet, 3 inches
\frac{1}{3}\pi r^2 h ; \frac13 \pi r^{2}h ; 1/3*pi*r^2*h
P(A|B) ; P(A \mid B)
7 ; 7\ \checkmark ; = 7
\sqrt2 ; \sqrt{2} ; √2 ; sqrt(2) ; √(2) ; \sqrt 2 ; \sqrt[2]{2} ; sqrt2
\sqrt[3]{5} ; ∛5 ; cbrt(5) ; \sqrt[3]5
x^{10} ; x^10 ; x**10 ; x¹⁰ ; {x}^{10}
2^{3^2} ; 2^3^2
e^{2x} ; \exp(2x) ; exp(2x) ; \mathrm{e}^{2x} ; e^(2x)
\sin^2 x ; (\sin x)^2 ; \sin(x)^2 ; sin^2(x) ; sin²(x) ; \sin^{2}{x}
\sin^{-1} x ; \arcsin x ; arcsin(x) ; asin(x)
\sin 2x ; \sin(2x) ; sin 2x ; \sin{2x} ; \sin\left(2x\right)
\log_2 8 ; \log_{2}(8) ; log_2(8) ; log2(8) ; \log_2{8}
\ln|x| ; \ln \left|x\right| ; ln|x| ; \ln\lvert x\rvert
|x-1| ; \left|x-1\right| ; abs(x-1) ; \lvert x-1 \rvert ; \vert x-1 \vert
\|v\| ; ||v|| ; \left\|v\right\| ; \lVert v \rVert
\binom{5}{2} ; \dbinom52 ; {5 \choose 2} ; C(5,2) ; {}_5C_2 ; _5C_2 ; C_5^2 ; \mathrm{C}_5^2
xy ; x y ; x \cdot y ; x*y ; x\times y
2x ; 2 x ; 2\cdot x ; 2*x
f(x)=x^2 ; f(x) = x^{2} ; $f(x)=x^2$
x \ne 2 ; x \neq 2 ; x≠2 ; x != 2 ; x \not= 2
-1 \le x < 3 ; -1 \leqslant x < 3 ; -1≤x<3 ; -1 <= x < 3 ; -1 \leq x \lt 3
x=1 or x=2 ; x=1\text{ or }x=2 ; $x=1$ or $x=2$ ; x=1 or 2 ; x = 1 \text{ or } 2
x=1, y=2 ; x=1,\ y=2 ; x=1 and y=2 ; x=1 \text{ and } y=2 ; \begin{cases} x=1 \\ y=2 \end{cases} ; \left\{\begin{array}{l} x=1 \\ y=2 \end{array}\right. ; $x = 1$, $y = 2$
1, 2, 3 ; 1, 2, and 3 ; 1, 2 and 3 ; 1; 2; 3 ; $1$, $2$, and $3$ ; 1、2、3
(1,2] ; \left(1,2\right] ; (1, 2] ; (1;2] ; （1，2］ ; \left( 1 , 2 \right]
]0,1[ ; \left]0,1\right[
(-\infty,-1)\cup(1,\infty) ; (-∞,-1)∪(1,∞) ; (-oo, -1) U (1, oo) ; (-\infty,-1) \cup (1,+\infty)
\{1,2\} ; {1,2} ; \left\{1,2\right\} ; \lbrace 1,2 \rbrace ; ｛1，2｝
\emptyset ; \varnothing ; ∅ ; \{\} ; {} ; empty set
\{x \mid x>3\} ; \{x | x>3\} ; \{x : x>3\} ; \left\{x \,\middle|\, x>3\right\} ; {x | x > 3}
\mathbb{R} ; \mathbb R ; ℝ ; all real numbers ; \text{all real numbers} ; any real number ; \Bbb{R}
\mathbb{R} \setminus \{0\} ; ℝ \setminus \{0\} ; \mathbb{R} - \{0\} ; \mathbb R \backslash \{0\}
\langle 1,2 \rangle ; <1,2> ; \left<1,2\right> ; ⟨1,2⟩
\begin{pmatrix}1&2\\3&4\end{pmatrix} ; \begin{bmatrix}1&2\\3&4\\\end{bmatrix} ; [[1,2],[3,4]] ; \left(\begin{array}{cc}1&2\\3&4\end{array}\right) ; [1, 2; 3, 4] ; \left[\begin{matrix}1&2\\[2pt]3&4\end{matrix}\right] ; \begin{pmatrix}1&2\cr 3&4\end{pmatrix}
\det\begin{pmatrix}1&2\\3&4\end{pmatrix} ; \begin{vmatrix}1&2\\3&4\end{vmatrix} ; \left|\begin{array}{cc}1&2\\3&4\end{array}\right|
3\mathbf{i}-\mathbf{k} ; 3\hat{i}-\hat{k} ; 3\vec{i} - \vec{k} ; 3\,\hat{\mathbf{i}} - \hat{\mathbf{k}} ; \langle 3,0,-1\rangle
101_2 ; 101_{2} ; (101)_2 ; 0b101 ; 101 base 2 ; 101 in base two ; 101_{\text{two}} ; 101_{(2)} ; 101 \text{ (base 2)}
2F_{16} ; 0x2F ; (2F)_{16} ; 2f_{16} ; \text{2F}_{16}
x \equiv 3 \pmod{7} ; x≡3 (mod 7) ; x \equiv 3 \pmod 7 ; x \equiv 3 \mod 7 ; x \equiv 3\ (\bmod\ 7)
(C) ; \text{(C)} ; \textbf{(C)} ; option C ; choice (C) ; \mathbf{(C)}
(C) 17 ; \textbf{(C)}\ 17 ; C. 17 ; C) 17 ; C: 17 ; \text{(C) }17
no solution ; No solutions. ; \text{no solution} ; there is no solution ; no solution exists
does not exist ; DNE ; \text{DNE} ; Does Not Exist
\infty ; ∞ ; infinity ; +\infty ; oo
21 ; twenty-one ; twenty one ; \text{twenty-one} ; 21st
1500 ; fifteen hundred ; one thousand five hundred ; 1.5 thousand
105 ; one hundred five ; one hundred and five
3:45 pm ; 3:45 PM ; 3:45 p.m. ; 3:45pm ; 3{:}45 \text{ p.m.} ; 03:45 pm
March 5, 2021 ; 5 March 2021 ; 2021-03-05 ; Mar 5, 2021 ; March 5th, 2021 ; the 5th of March, 2021 ; \text{March } 5, 2021
3:4 ; 3 : 4 ; 3 to 4 ; 3{:}4 ; 3∶4 ; 3 \colon 4
\frac{d}{dx} x^2 ; \frac{d}{dx}(x^2)
\int_0^1 x^2\,dx ; \int_{0}^{1} x^{2} dx ; \int_0^1 x^2 \mathrm{d}x
\sum_{k=1}^{n} k ; \sum_{k=1}^n k ; ∑_{k=1}^n k
x ; $x$ ; \(x\) ; \[x\] ; \displaystyle x ; \mathbf{x} ; **x** ; `x` ; x. ; \boxed{x} ; \color{red}{x} ; \left(x\right) ; \big(x\big)
73 ; **73** ; __73__ ; $\boxed{73}$ ; 73. ; \text{73} ; \mathbf{73} ; {73}
"""


def _lines() -> list[list[str]]:
    return [[t.strip() for t in line.split(" ; ")] for line in SAME.strip().splitlines()]


@pytest.mark.parametrize("notations", _lines(), ids=lambda line: line[0])
def test_notations_of_one_thing_make_one_tree(notations: list[str]) -> None:
    first = parse(notations[0])
    for other in notations[1:]:
        assert parse(other) == first, other


TREES: list[tuple[str, Node]] = [
    ("-7", n(-7)),
    ("2/4", Div(n(2), n(4))),
    ("0.50", n("1/2", 2)),
    ("5.", n(5)),
    ("0,5", Items((n(0), n(5)))),
    ("1, 234", Items((n(1), n(234)))),
    ("(1,234)", Seq((n(1), n(234)), "(", ")")),
    ("1,234", n(1234)),
    ("1234,567", Items((n(1234), n(567)))),
    ("3.14159...", n("3.14159", 5)),
    ("3 \\times 10^8", Mul((n(3), Pow(n(10), n(8))))),
    ("x^3-2x", Add((Pow(X, n(3)), Neg(Mul((n(2), X)))))),
    ("1/2x", Mul((Div(n(1), n(2)), X))),
    ("2^3!", Pow(n(2), Call("factorial", (n(3),)))),
    ("-x^2", Neg(Pow(X, n(2)))),
    ("(-2)^4", Pow(n(-2), n(4))),
    ("n!!", Call("factorial2", (Sym("n"),))),
    ("x(y+1)", Mul((X, Add((Y, n(1)))))),
    ("f(x)", Call("f", (X,))),
    ("f^{-1}(x)", Call("f^-1", (X,))),
    ("f'(x)", Call("f'", (X,))),
    ("a_n", Sym("a_n")),
    ("x_{12}", Sym("x_12")),
    ("x_{\\text{max}}", Sym("x_max")),
    ("\\varphi", Sym("phi")),
    ("1 < x \\le 3", Rel((n(1), X, n(3)), ("<", "<="))),
    ("x > 3 \\text{ and } x < 5", Logic("and", (Rel((X, n(3)), (">",)), Rel((X, n(5)), ("<",))))),
    ("(x, y) = (1, 2)", Rel((Seq((X, Y), "(", ")"), Seq((n(1), n(2)), "(", ")")), ("=",))),
    ("x=1 \\implies y=2", Rel((Y, n(2)), ("=",))),
    ("4 \\pmod 9", Mod(n(4), n(9))),
    ("\\mathbb{R}^+", NamedSet("R+")),
    ("\\mathbb{R}^2", Pow(NamedSet("R"), n(2))),
    ("A \\cap B", SetOp("intersection", (Sym("A"), Sym("B")))),
    ("{42}", n(42)),
    ("\\{42\\}", SetOf((n(42),))),
    ("\\begin{pmatrix}1\\\\2\\end{pmatrix}", Matrix(((n(1),), (n(2),)))),
    ("C", Sym("C")),
    ("(A), (C)", Items((Choice("A"), Choice("C")))),
    ("2m", Mul((n(2), Sym("m")))),
    ("2 m", Quantity(n(2), (("m", 1),))),
    ("-\\$5", Quantity(n(-5), (("$", 1),))),
    ("12 dollars per hour", Quantity(n(12), (("$", 1), ("hour", -1)))),
    ("2+\\sqrt{3} \\text{ cm}", Quantity(Add((n(2), Call("root", (n(3), n(2))))), (("cm", 1),))),
    (
        "7 apples and 3 oranges",
        Items((Quantity(n(7), (("apple", 1),)), Quantity(n(3), (("orange", 1),)))),
    ),
    ("15:45", Ratio((n(15), n(45)))),
    ("07:05", Clock(25500)),
    ("noon", Clock(43200)),
    ("March 5", Date(None, 3, 5)),
    ("3/5/2021", Div(Div(n(3), n(5)), n(2021))),
    ("Tuesday", Text("tuesday")),
    ("a parallelogram", Text("parallelogram")),
    ("1210_3", Based("1210", 3, Fraction(48))),
    ("e^{i\\pi}", Pow(Const("e"), Mul((Const("i"), Const("pi"))))),
    ("2+3*I", Add((n(2), Mul((n(3), Const("i")))))),
    (
        "\\begin{cases} x & \\text{if } x \\ge 0 \\\\ -x & \\text{otherwise} \\end{cases}",
        Piecewise(((X, Rel((X, n(0)), (">=",))), (Neg(X), None))),
    ),
]


@pytest.mark.parametrize(("text", "tree"), TREES, ids=[text for text, _ in TREES])
def test_the_tree_is_what_was_written(text: str, tree: Node) -> None:
    assert parse(text) == tree


DIFFERENT = [
    ("(1,2)", "[1,2]"),
    ("(1,2)", "\\{1,2\\}"),
    ("3:4", "4:3"),
    ("101_2", "101_3"),
    ("5\\text{ g}", "5\\text{ kg}"),
    ("5 cm", "5 cm^2"),
    ("x_1", "x_2"),
    ("\\angle ABC", "\\triangle ABC"),
    ("e^{2x}", "e^2x"),
    ("2^{n+1}", "2^n+1"),
    ("\\sqrt{2x}", "\\sqrt{2}x"),
    ("\\sin 2x", "2 \\sin x"),
    ("f(x)", "x(f)"),
    ("0.\\overline{33}", "0.33"),
    ("no solution", "infinitely many solutions"),
    ("x<3", "x\\le 3"),
    ("3:45 am", "3:45 pm"),
    ("\\$5", "€5"),
    ("cat", "act"),
]


@pytest.mark.parametrize(("one", "other"), DIFFERENT, ids=lambda text: text)
def test_what_differs_in_meaning_differs_as_a_tree(one: str, other: str) -> None:
    assert parse(one) != parse(other)


@pytest.mark.parametrize(
    "text",
    [
        "Janet makes 18 dollars a day",
        "I think 5, but it could be 6",
        "3 or maybe 4",
        "either 3 or 4 apples",
        "Therefore x = 15",
        "the answer is 5",
        "5 is the answer",
        "18 (it is not 17)",
        "15 (fifteen)",
        "x where x is \\frac12",
        "less than 18",
        "__import__('os').system('true')",
    ],
)
def test_prose_is_text_and_never_a_product_of_letters(text: str) -> None:
    assert isinstance(parse(text), Text)


@pytest.mark.parametrize(
    ("broken", "whole"),
    [
        ("\x0crac{1}{2}", "\\frac{1}{2}"),
        ("2 \times 3", "2 \\times 3"),
        ("\x08inom{5}{2}", "\\binom{5}{2}"),
        ("\\\\frac{1}{2}", "\\frac{1}{2}"),
        (
            "\\\\begin{pmatrix} 1 \\\\\\\\ 2 \\\\end{pmatrix}",
            "\\begin{pmatrix} 1 \\\\ 2 \\end{pmatrix}",
        ),
    ],
)
def test_escapes_that_were_lost_on_the_way_are_healed(broken: str, whole: str) -> None:
    assert parse(broken) == parse(whole)
