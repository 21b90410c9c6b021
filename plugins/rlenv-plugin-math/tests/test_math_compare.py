"""What counts as the same answer, in tables: one pair a line, the two sides apart by ``;;``."""

from __future__ import annotations

import pytest
from rlenv_plugin_math.compare import Decision, Options, decide
from rlenv_plugin_math.parser import parse

INLINE = Options(symbolic=False)


def pairs(table: str) -> list[tuple[str, str]]:
    return [tuple(line.split(" ;; ", 1)) for line in table.strip().splitlines()]  # type: ignore[misc]


def compare(gold: str, given: str, options: Options = INLINE) -> Decision:
    return decide(parse(gold), parse(given), key=b"key", options=options)


SAME = r"""
1/2 ;; 0.5
50\% ;; 0.5
50\% ;; 1/2
1 km ;; 1000 m
180^\circ ;; \pi
45 ;; 45^\circ
\$5 ;; 5 \text{ dollars}
x=3 ;; 3
3 ;; 3=x
y=2x+1 ;; 2x+1
y=2x+1 ;; f(x)=2x+1
2x+4y=6 ;; x+2y=3
2x+4y=6 ;; 2x+4y-6=0
1/2 ;; 1/2=0.5
x>3 ;; 3<x
x>3 ;; (3,\infty)
x>3 ;; \{x \mid x>3\}
x>3 ;; x\in(3,\infty)
-x<-3 ;; x>3
1<x\le 3 ;; (1,3]
x\neq 2 ;; (-\infty,2)\cup(2,\infty)
(0,1) ;; (0,1)
(-\infty,\infty) ;; \mathbb{R}
(-\infty,\infty) ;; \text{all real numbers}
\emptyset ;; \text{no solution}
\{\} ;; \emptyset
1,2 ;; \{1,2\}
1,2 ;; 2,1
2\pm\sqrt3 ;; \{2+\sqrt3, 2-\sqrt3\}
x=\pm 2 ;; x=2 \text{ or } x=-2
x=\pm 2 ;; -2,2
x=1,y=2 ;; y=2,x=1
x=1,y=2 ;; (1,2)
(x,y)=(1,2) ;; (1,2)
(x,y)=(1,2) ;; x=1, y=2
\begin{pmatrix}1\\2\end{pmatrix} ;; (1,2)
\begin{pmatrix}1\\2\end{pmatrix} ;; \langle 1,2\rangle
\begin{pmatrix}1&2\\3&4\end{pmatrix} ;; \begin{bmatrix}1&2\\3&4\end{bmatrix}
\begin{pmatrix}1&2\\3&4\end{pmatrix} ;; [[1,2],[3,4]]
\frac12\begin{pmatrix}2\\4\end{pmatrix} ;; \begin{pmatrix}1\\2\end{pmatrix}
3 \pmod 7 ;; 10 \pmod 7
x\equiv 3 \pmod 7 ;; 3 \pmod 7
3:4 ;; 6:8
3:4 ;; \frac34
C ;; (C) 17
(C) ;; C
\infty ;; +\infty
\text{yes} ;; \text{Yes}
x<2 \text{ or } x>3 ;; (-\infty,2)\cup(3,\infty)
[3,\infty) ;; x\ge 3
e^{i\pi} ;; -1
2e^{i\pi/3} ;; 1+i\sqrt3
\frac{1+\sqrt5}{2} ;; \frac{2}{\sqrt5-1}
\sin^2 x + \cos^2 x ;; 1
\frac{x^2-1}{x-1} ;; x+1
\log_2 8 ;; 3
\sum_{k=1}^{10} k ;; 55
\frac{n(n+1)}{2} ;; \sum_{k=1}^n k
5! ;; 120
\binom{5}{2} ;; 10
x=1 \text{ or } x=2 ;; 1,2
x=1 \text{ or } x=2 ;; \{1,2\}
\frac{x^2}{4}+\frac{y^2}{9}=1 ;; 9x^2+4y^2=36
y=\frac1x ;; xy=1
y>2x+1 ;; y-2x>1
y>2x+1 ;; 2x-y<-1
0.\overline{3} ;; 1/3
\frac13 ;; 0.33333333
\pi ;; 3.14159265
\sqrt2 ;; 1.41421356
5 ft 3 in ;; 63 \text{ inches}
1.5 hours ;; 90 minutes
x = 5 \text{ cm} ;; 5
(1,2),(3,4) ;; (3,4),(1,2)
f(x)=x^2-1=(x-1)(x+1) ;; x^2-1
\ln(x^2) ;; 2\ln x
\tan\frac{\pi}{4} ;; 1
\cos 60^\circ ;; 1/2
x\in\{1,2\} ;; \{1,2\}
2k\pi+\frac\pi2 ;; \frac\pi2+2\pi k
\frac{\pi}{3} ;; 60^\circ
\frac{\sqrt2}{2} ;; \frac1{\sqrt2}
\sqrt[3]{-8} ;; -2
3\mathbf{i}+2\mathbf{j} ;; (3,2)
[-1,1] ;; -1\le x\le 1
\{x \in \mathbb{R} : x \ne 0\} ;; x\neq 0
\mathbb{R}\setminus\{0\} ;; x\neq 0
A,B,D ;; ABD
x^2 - 5x + 6 = 0 ;; 6 - 5x + x^2 = 0
\{1,2,2\} ;; \{1,2\}
9^{9^{9^{9}}} ;; 9^{9^{9^{9}}}
[0,1]\cup[1,2] ;; [0,2]
(0,2] ;; (0,1]\cup(1,2]
\{1\}\cup[2,3) ;; [2,3)\cup\{1\}
x\ge0, x\ne1 ;; [0,1)\cup(1,\infty)
0<x<1 ;; (0,1)
a<x<b ;; b>x>a
1 < 2x+1 < 5 ;; 5 > 2x+1 > 1
[\frac{1}{2},\sqrt{2}] ;; [0.5,\frac{2}{\sqrt2}]
12 \text{ cm} ;; 0.12 \text{ m}
60 mph ;; 1 \text{ mile per minute}
10 \text{ cm}^2 ;; 1000 \text{ mm}^2
\$1.50 ;; 150 \text{ cents}
30^\circ ;; \frac{\pi}{6}
20\% ;; \frac15
20\% ;; 0.20
1000000 ;; 1,000,000
1.0 ;; 1
1.5 ;; \frac{3}{2}
1\frac12 ;; \frac32
0.999... ;; 1
0.1428571428 ;; \frac17
6.022 \times 10^{23} ;; 6.022e23
3 \times 10^8 ;; 300000000
2^{10} ;; 1024
2^{-1} ;; 0.5
i^2 ;; -1
\frac{1}{i} ;; -i
(1+i)^2 ;; 2i
|3+4i| ;; 5
\sqrt{-4} ;; 2i
\cos\theta + i\sin\theta ;; e^{i\theta}
\log_{10} 100 ;; 2
\log 100 ;; 2
\ln e^2 ;; 2
\sqrt{50} ;; 5\sqrt2
\sqrt{3+2\sqrt2} ;; 1+\sqrt2
\frac{\sqrt6-\sqrt2}{4} ;; \sin 15^\circ
\sqrt[3]{16} ;; 2\sqrt[3]{2}
2^{1/3} ;; \sqrt[3]{2}
x^{3/2} ;; x\sqrt{x}
\sqrt{x}\sqrt{y} ;; \sqrt{xy}
a^{m+n} ;; a^m a^n
(a^m)^n ;; a^{mn}
4^n ;; 2^{2n}
2^n+2^n ;; 2^{n+1}
e^{x+y} ;; e^xe^y
e^{\ln x} ;; x
n! ;; n(n-1)!
\frac{n!}{(n-2)!} ;; n(n-1)
\binom{n}{2} ;; \frac{n(n-1)}{2}
\binom{n}{k} ;; \frac{n!}{k!(n-k)!}
\binom{10}{3} ;; 120
(-1)^n ;; (-1)^{n+2}
\frac{(-1)^{n+1}}{n} ;; -\frac{(-1)^n}{n}
\sin 2x ;; 2\sin x\cos x
\cos 2x ;; 1-2\sin^2 x
\tan x ;; \frac{\sin x}{\cos x}
\sec^2 x ;; 1+\tan^2 x
\arctan 1 ;; \frac{\pi}{4}
\sinh x ;; \frac{e^x-e^{-x}}{2}
\ln 2 + \ln 3 ;; \ln 6
\log_2 3 ;; \frac{\ln 3}{\ln 2}
\frac{1}{x}+\frac1y ;; \frac{x+y}{xy}
(x+1)(x+2) ;; x^2+3x+2
x^2+2x+1 ;; (x+1)^2
\frac{x^3-1}{x-1} ;; x^2+x+1
-\frac{a}{b} ;; \frac{-a}{b}
\frac{x}{2} ;; 0.5x
(x+y+z)^{500} ;; (z+x+y)^{500}
x_1=1, x_2=2 ;; 1,2
x_1=1, x_2=2 ;; \{1,2\}
a=1,b=2,c=3 ;; c=3,a=1,b=2
a=1,b=2,c=3 ;; (1,2,3)
(x,y)=(1,2) \text{ or } (3,4) ;; (1,2),(3,4)
(1,2) \text{ and } (3,4) ;; (3,4),(1,2)
x=1,y=2 \text{ or } x=3,y=4 ;; (1,2),(3,4)
\{(1,2),(3,4)\} ;; (1,2),(3,4)
\begin{cases}x=1\\y=2\end{cases} ;; (1,2)
\begin{cases}x=1\\y=2\end{cases} ;; x=1,y=2
\begin{pmatrix}1/2\\-1\end{pmatrix} ;; \begin{bmatrix}0.5\\-1\end{bmatrix}
\begin{vmatrix}1&2\\3&4\end{vmatrix} ;; -2
\langle 1,2,3\rangle ;; (1,2,3)
\mathbf{i}+2\mathbf{j}-\mathbf{k} ;; (1,2,-1)
(B) ;; B
\text{Tuesday} ;; tuesday
5 \pmod{12} ;; 17 \pmod{12}
1010_2 ;; 1010_{2}
1:2:3 ;; 2:4:6
\infty ;; \infty
-\infty ;; -\infty
k\pi, k\in\mathbb{Z} ;; n\pi, n\in\mathbb{Z}
x=k\pi, k\in\mathbb{Z} ;; x=n\pi, n \in \mathbb{Z}
\frac{\pi}{2}+k\pi, k\in\mathbb{Z} ;; k\pi-\frac{\pi}{2}, k\in\mathbb{Z}
x^2+C ;; x^2+C
x^2+C ;; C+x^2
\{2k \mid k\in\mathbb{Z}\} ;; \{2n \mid n\in\mathbb{Z}\}
\frac{1}{3},\frac{2}{3} ;; 2/3, 1/3
\frac{100!}{99!} ;; 100
\gcd(12,18) ;; 6
\lfloor 3.7\rfloor ;; 3
\lceil \pi \rceil ;; 4
\max(2,3) ;; 3
10\sqrt{3} \text{ cm} ;; 10\sqrt3
10\sqrt{3} \text{ cm} ;; \sqrt{300} \text{ cm}
-\frac{1}{2} ;; \frac{1}{-2}
--2 ;; 2
2x+3y\le 6 ;; 6\ge 3y+2x
2x+3y\le 6 ;; -2x-3y\ge -6
r = 2\cos\theta ;; 2\cos\theta
x = 2\cos t, y = 2\sin t ;; y = 2\sin t, x=2\cos t
\frac{x-1}{2}=\frac{y-2}{3}=z ;; \frac{x-1}{2}=\frac{y-2}{3}=\frac{z}{1}
1e3 ;; 1000
2 \text{ hours} ;; 120 \text{ minutes}
72 \text{ km/h} ;; 20 \text{ m/s}
(-\infty, -2] \cup [2, \infty) ;; |x| \ge 2
(-2,2) ;; |x|<2
{5} ;; 5
\frac{4}{3}\pi r^3 ;; \frac{4\pi r^3}{3}
"""

DIFFERENT = r"""
50 ;; 0.5
5 g ;; 5 kg
5 \text{ cm}^2 ;; 5 \text{ cm}
\$5 ;; €5
100^\circ C ;; 100^\circ F
x^2+1 ;; y^2+1
x=3 ;; y=3
2x+4y=6 ;; 2x+4y-7=0
x^2-1=0 ;; x^3-1=0
7 ;; 7 \approx 8
8 ;; 7 \approx 8
7 ;; 7=8
8 ;; 7=8
0 ;; 0=0
x ;; x=x
3 ;; x=x
x>3 ;; x\ge 3
x>3 ;; x<3
(1,2) ;; [1,2]
1,2 ;; 1,2,3
1,2 ;; 1
x=\pm 2 ;; 2
x=\pm 2 ;; x=2
x=1,y=2 ;; y=1,x=2
x=1,y=2 ;; (2,1)
\begin{pmatrix}1\\2\end{pmatrix} ;; \begin{pmatrix}1&2\end{pmatrix}
3 \pmod 7 ;; 3 \pmod 8
101_2 ;; 101_3
(C) 17 ;; (D) 17
\infty ;; -\infty
\infty ;; 5
5 ;; 5,6
\sqrt{x^2} ;; x
2^{100000} ;; 2^{100000}+1
x=1 \text{ or } x=2 ;; x=1
y>2x+1 ;; y<2x+1
\frac13 ;; 0.333
\frac13 ;; 0.3333
\pi ;; 3.14
\sqrt2 ;; 1.41
12345 ;; 12346
12345678901234567890 ;; 12345678901234567891
2 apples ;; 2 oranges
(1,2),(3,4) ;; (2,1),(3,4)
\text{no solution} ;; 0
x^3 y' ;; 3
|x| ;; x
[-1,1] ;; (-1,1)
AB ;; BA+1
10:30 \text{ am} ;; 10:30 \text{ pm}
\frac{3}{4} ;; \frac{4}{3}
x=3 \text{ and } x=4 ;; 3
9^{9^{9^{9}}} ;; 3
x^{2} ;; 2x
(0,1)\cup(1,2) ;; (0,2)
0<x<1 ;; 0<x<2
\mathbb{R} ;; \mathbb{Q}
(-\infty,3)\cup(3,\infty) ;; (-\infty,4)\cup(4,\infty)
12 \text{ cm} ;; 12 \text{ m}
30^\circ ;; 30 \text{ cm}
20\% ;; 20 \text{ cm}
3.0000001 ;; 3
2.9999999 ;; 3
6.022 \times 10^{23} ;; 6.023e23
3+4i ;; 4+3i
\sqrt{50} ;; 2\sqrt5
\frac{\sqrt6-\sqrt2}{4} ;; \cos 15^\circ
\sqrt[3]{2} ;; \sqrt{2}
(-1)^n ;; 1
\cos 2x ;; 1-\sin^2 x
\ln 2 + \ln 3 ;; \ln 5
(x+1)(x+2) ;; x^2+3x+3
\frac{a}{b} ;; \frac{b}{a}
0.33x ;; \frac{x}{3}
x^{100} ;; x^{101}
(x+y+z)^{500} ;; (z+x+2y)^{500}
1-\frac1e ;; 1+\frac1e
a=1,b=2,c=3 ;; (3,2,1)
\begin{pmatrix}1&0\\0&1\end{pmatrix} ;; \begin{pmatrix}0&1\\1&0\end{pmatrix}
(B) ;; (C)
\text{yes} ;; \text{no}
\text{true} ;; \text{false}
\text{Tuesday} ;; \text{Monday}
\text{infinitely many} ;; 5
\text{does not exist} ;; 0
5 \pmod{12} ;; 6 \pmod{12}
10110_2 ;; 10110_3
2:3 ;; 3:2
1:2:3 ;; 1:2:4
\frac{1}{0} ;; 5
\frac{0}{0} ;; 0
0^0 ;; 5
2k\pi, k\in\mathbb{Z} ;; k\pi, k\in\mathbb{Z}
x^2+C ;; x^2
100! ;; 100!+1
2x+3y\le 6 ;; -2x-3y\le -6
\triangle ABC ;; \triangle ABD
25\text{ kg} ;; 25 \text{ g}
m/s ;; 5
32^\circ\text{F} ;; 0^\circ\text{C}
1,2,3,4 ;; 1,2,3
\mathbb{Z} ;; \mathbb{R}
\pi r^2 ;; 2\pi r
"""

# the gold is on the left; the other way round is not claimed
MEETS = r"""
50 ;; 50\%
50\% ;; 50
5 ;; 5 \text{ cm}
5 \text{ cm} ;; 5
3 \pmod 7 ;; 3
17 ;; (C) 17
m+n=25 ;; 25
25 ;; m+n=25
25 ;; 3^2+4^2=25
x \approx 3.14159265 ;; 3.14159265
\pi ;; \pi \approx 3.14
3.14 ;; \pi \approx 3.14
y=x ;; x=y
y=x ;; x-y=0
y = 3x+2 ;; 3x - y = -2
x^2-4=0 ;; 4-x^2=0
x^2-4=0 ;; (x-2)(x+2)=0
(3,\infty) ;; t>3
(-\infty,1)\cup(1,\infty) ;; \mathbb{R}\setminus\{1\}
\log_3 9 = 2 ;; 2
2 ;; \log_3 9 = 2
(x+1)^2 ;; x^2+2x+1=(x+1)^2
f(2)=3 ;; 3
3 ;; f(2)=3
S_{10}=55 ;; 55
55 ;; S_{10} = 55
\text{Area} = 5 ;; 5
P = \frac{1}{3} ;; \frac13
A = \pi r^2 = 25\pi ;; 25\pi
25\pi ;; A = \pi r^2 = 25\pi
x=\frac{1}{2}=0.5 ;; 0.5
B ;; \text{(B)}
\text{(B) } 12 ;; 12
x \equiv 5 \pmod{12} ;; 5
x^2 ;; f(x)=x^2
f(x)=x^2 ;; y=x^2
f(x)=x^2 ;; x^2
\sqrt{2}\approx 1.414 ;; \sqrt2
\sqrt2 ;; \sqrt{2}\approx 1.414
p \approx 0.3333333 ;; 1/3
10 ;; 10.0
5 \text{ apples} ;; 5
5 ;; 5 \text{ apples}
x+y+z=3 ;; 3
3 ;; x+y+z=3
\frac{dy}{dx}=2x ;; 2x
2x ;; \frac{dy}{dx}=2x
y'=2x ;; 2x
\angle ABC = 60^\circ ;; 60^\circ
60 ;; \angle ABC = 60^\circ
\{5\} ;; 5
x\in\{5\} ;; 5
\boxed{5} ;; 5
"""

MISSES = r"""
0.5 ;; 0.5\%
x=2 ;; 2x+3=7
2 ;; 2x+3=7
7 ;; 2x+3=7
(1,2) ;; \{1,2\}
101_2 ;; 101
5 ;; x^2+y^2=5
3.14159 ;; 3.14
x^2 - 5x + 6 = 0 ;; 2, 3
2 ;; \{2,3\}
2 ;; 2 \text{ or } 3
2 ;; (2,3)
(2,3) ;; 2
x=2 ;; x=2 \text{ or } x=3
2 ;; x=2, y=3
(1,2) ;; 2,1
1,2,3 ;; 1,2,2
1,2,2 ;; 1,2
-2,2 ;; \pm 3
\pm 2 ;; \pm 2, 0
5 ;; x<5
5 ;; x\le 5
x \ne 5 ;; x = 5
x = 5 ;; x \neq 5
7 ;; 7>6
7 ;; 7\ge 7
0 ;; x-x=0
0 ;; x-y=0
0 ;; x^2=0
5 ;; |x|=5
5 ;; x+2=5
5 ;; 2x=5
5 ;; x^2=5
x^2+y^2=1 ;; x^2+y^2=2
x^2+y^2=1 ;; x^2-y^2=1
x^2+y^2=1 ;; x^2+y^2+1=0
y=x ;; x=x
y=x ;; y=y
y=x ;; 0=0
y = 3x+2 ;; 3x - y = 2
x=5 ;; 2x=10
x=5 ;; x-5=0
x^2-4=0 ;; (x-2)^2=0
x>5 ;; x>5 \text{ or } x<3
x>5 ;; 2x>10
x>3 ;; t>3
(1,3) ;; 1\le x<3
0.2 ;; 20
20 ;; 0.2
3 ;; \log_3 9 = 3
x^2+2x+1=(x+1)^2 ;; x^2+2x+2
12 ;; \text{(B) } 13
g(x)=x^2 ;; f(x)=x^2
f(x) = x^2 ;; f(x) = x^3
\sqrt2 ;; \sqrt{3}\approx 1.732
\sqrt2 ;; 1.414 \approx \sqrt{2} \approx 2
2x+3y=6 ;; 2x+3y<6
n=7 ;; n \ge 7
x^2<4 ;; x>2
5, 7 ;; 5
"""


@pytest.mark.parametrize(("one", "other"), pairs(SAME))
def test_equal_answers_are_equal_whichever_is_the_gold(one: str, other: str) -> None:
    assert compare(one, other).equal
    assert compare(other, one).equal


@pytest.mark.parametrize(("one", "other"), pairs(DIFFERENT))
def test_different_answers_differ_whichever_is_the_gold(one: str, other: str) -> None:
    assert not compare(one, other).equal
    assert not compare(other, one).equal


@pytest.mark.parametrize(("gold", "given"), pairs(MEETS))
def test_an_answer_may_say_more_or_less_than_the_gold_writes(gold: str, given: str) -> None:
    assert compare(gold, given).equal


@pytest.mark.parametrize(("gold", "given"), pairs(MISSES))
def test_a_statement_that_is_not_the_answer_earns_nothing(gold: str, given: str) -> None:
    assert not compare(gold, given).equal


def test_the_rung_that_decided_is_named() -> None:
    assert compare("3", "3.0").how == "exact"
    assert compare(r"\sqrt8", r"2\sqrt2").how == "normal form"
    assert compare(r"\sin 2x", r"2\sin x\cos x").how == "numeric"
    assert compare("x + 1", "x + 1").how == "structure"
    assert compare(r"\text{yes}", r"\text{no}").how == "text"


def test_a_tower_too_high_for_any_rung_is_undecided_and_unequal() -> None:
    decision = compare("9^{9^{9^{9}}}", "9^{9^{9^{9}}}+1")
    assert decision == Decision(equal=False, how="undecided", decided=False)


def test_tolerance_can_be_turned_off() -> None:
    assert compare(r"\pi", "3.14159265").equal
    assert not compare(r"\pi", "3.14159265", Options(tolerance="none")).equal


def test_fewer_digits_suffice_when_the_task_says_so() -> None:
    assert not compare(r"\pi", "3.14").equal
    assert compare(r"\pi", "3.14", Options(digits=3)).equal


def test_an_integer_is_never_an_approximation_nor_approximated() -> None:
    assert not compare("3", "3.0000001").equal
    assert not compare("2.9999999", "3").equal


def test_a_task_may_demand_a_relative_or_absolute_tolerance() -> None:
    assert compare("9.81", "9.8", Options(rel_tol=0.01)).equal
    assert not compare("9.81", "9.6", Options(rel_tol=0.01)).equal
    assert compare("100", "100.4", Options(abs_tol=0.5)).equal
    assert not compare("100", "100.6", Options(abs_tol=0.5)).equal


def test_a_gold_with_a_unit_can_insist_on_it() -> None:
    strict = Options(require_unit=True)
    assert not compare(r"5 \text{ cm}", "5", strict).equal
    assert compare(r"5 \text{ cm}", r"50 \text{ mm}", strict).equal
    assert compare("5", r"5 \text{ cm}", strict).equal
