"""The tables of the lexer: what a command, a word or a sign is to the parser."""

from __future__ import annotations

from .limits import words_of

# function names as written, and the canonical name of the Call
_SAME = """
    sin cos tan cot sec csc sinh cosh tanh coth sech csch ln log exp gcd lcm min max det arg
    sgn abs floor ceil sqrt cbrt cis lg tr rank dim re im conj deg round sup ord
"""
FUNCTIONS = {name: name for name in _SAME.split()} | {
    "arcsin": "asin", "arccos": "acos", "arctan": "atan", "arccot": "acot", "arcsec": "asec",
    "arccsc": "acsc", "asin": "asin", "acos": "acos", "atan": "atan", "acot": "acot",
    "asec": "asec", "acsc": "acsc", "arcsinh": "asinh", "arccosh": "acosh", "arctanh": "atanh",
    "arsinh": "asinh", "arcosh": "acosh", "artanh": "atanh", "asinh": "asinh", "acosh": "acosh",
    "atanh": "atanh", "cosec": "csc", "ctg": "cot", "tg": "tan", "arctg": "atan", "Re": "re",
    "Im": "im", "Arg": "arg", "sign": "sgn", "GCD": "gcd", "LCM": "lcm", "HCF": "gcd", "hcf": "gcd",
    "gcf": "gcd", "GCF": "gcd", "Log": "log", "Ln": "ln", "Tr": "tr", "trace": "tr",
    "ceiling": "ceil", "surd": "sqrt", "cuberoot": "cbrt", "fourthroot": "fourthroot",
    "binom": "binomial", "binomial": "binomial", "factorial": "factorial", "Sqrt": "sqrt",
    "Sin": "sin", "Cos": "cos", "Tan": "tan",
}  # fmt: skip
_NOT_COMMANDS = words_of("abs floor ceil sqrt cbrt binom re im deg binomial factorial round ord")
COMMAND_FUNCTIONS = {k: v for k, v in FUNCTIONS.items() if k not in _NOT_COMMANDS} | {"deg": "deg"}

CONSTANTS = {
    "pi": "pi", "Pi": "pi", "infinity": "inf", "Infinity": "inf", "oo": "inf", "inf": "inf",
    "infty": "inf", "e": "e", "i": "i", "imath": "i", "PI": "pi",
}  # fmt: skip

_GREEK = """
    alpha beta gamma delta epsilon zeta eta theta iota kappa lambda mu nu xi rho sigma tau
    upsilon phi chi psi omega Gamma Delta Theta Lambda Xi Pi Sigma Upsilon Phi Psi Omega
"""
GREEK = {name: name for name in _GREEK.split()}
LETTERS = GREEK | {
    "varepsilon": "epsilon", "vartheta": "theta", "varphi": "phi", "varrho": "rho",
    "varsigma": "sigma", "varpi": "varpi", "ell": "l", "hbar": "hbar", "jmath": "j",
    "aleph": "aleph", "nabla": "nabla", "partial": "partial", "square": "square", "Box": "square",
    "star": "star", "prime": "'", "dagger": "dagger", "top": "T", "complement": "complement",
    "wp": "wp",
}  # fmt: skip

# commands that are signs: the kind of the token and its text
SIGNS: dict[str, tuple[str, str]] = {
    "times": ("*", "x"), "cdot": ("*", "."), "ast": ("*", "*"), "bullet": ("*", "."),
    "div": ("/", "/"), "pm": ("pm", "1"), "mp": ("pm", "-1"), "le": ("rel", "<="),
    "leq": ("rel", "<="), "leqslant": ("rel", "<="), "leqq": ("rel", "<="), "ge": ("rel", ">="),
    "geq": ("rel", ">="), "geqslant": ("rel", ">="), "geqq": ("rel", ">="), "lt": ("rel", "<"),
    "gt": ("rel", ">"), "ne": ("rel", "!="), "neq": ("rel", "!="), "approx": ("rel", "~"),
    "simeq": ("rel", "~"), "thickapprox": ("rel", "~"), "cong": ("rel", "~"), "doteq": ("rel", "="),
    "triangleq": ("rel", "="), "coloneqq": ("rel", "="), "equiv": ("rel", "="),
    "sim": ("rel", "sim"), "propto": ("rel", "propto"), "in": ("rel", "in"),
    "notin": ("rel", "notin"), "ni": ("rel", "ni"), "subset": ("rel", "subset"),
    "subseteq": ("rel", "subseteq"), "supset": ("rel", "supset"), "supseteq": ("rel", "supseteq"),
    "subsetneq": ("rel", "subset"), "parallel": ("rel", "parallel"), "perp": ("rel", "perp"),
    "cup": ("setop", "union"), "bigcup": ("setop", "union"), "cap": ("setop", "intersection"),
    "bigcap": ("setop", "intersection"), "setminus": ("setop", "difference"),
    "smallsetminus": ("setop", "difference"), "backslash": ("setop", "difference"),
    "land": ("land", "and"), "wedge": ("land", "and"), "lor": ("lor", "or"), "vee": ("lor", "or"),
    "implies": ("implies", ""), "Rightarrow": ("implies", ""), "Longrightarrow": ("implies", ""),
    "iff": ("implies", ""), "Leftrightarrow": ("implies", ""),
    "Longleftrightarrow": ("implies", ""), "to": ("implies", "to"), "rightarrow": ("implies", "to"),
    "longrightarrow": ("implies", "to"), "mapsto": ("implies", "to"), "therefore": ("implies", ""),
    "colon": (":", ":"), "mid": ("mid", "|"), "vert": ("|", "|"), "lvert": ("l|", "|"),
    "rvert": ("r|", "|"), "Vert": ("norm", ""), "lVert": ("lnorm", ""), "rVert": ("rnorm", ""),
    "langle": ("langle", "<"), "rangle": ("rangle", ">"), "lfloor": ("lfloor", "floor"),
    "rfloor": ("rfloor", ""), "lceil": ("lceil", "ceil"), "rceil": ("rceil", ""),
    "lbrace": ("\\{", "{"), "rbrace": ("\\}", "}"), "lbrack": ("[", "["), "rbrack": ("]", "]"),
    "lparen": ("(", "("), "rparen": (")", ")"), "ldots": ("...", "..."), "dots": ("...", "..."),
    "cdots": ("...", "..."), "dotsc": ("...", "..."), "dotsb": ("...", "..."),
    "vdots": ("...", "..."), "ddots": ("...", "..."), "degree": ("deg", "deg"),
    "circ": ("circ", "o"), "pmod": ("mod", "p"), "bmod": ("mod", ""), "mod": ("mod", ""),
    "pod": ("mod", "p"), "over": ("over", "frac"), "choose": ("over", "binomial"),
    "neg": ("not", "not"), "lnot": ("not", "not"), "angle": ("angle", "angle"),
    "measuredangle": ("angle", "angle"), "percent": ("%", "%"), "pounds": ("cur", "£"),
    "euro": ("cur", "€"), "yen": ("cur", "¥"), "dollar": ("cur", "$"), "textdollar": ("cur", "$"),
    "geqslantgtr": ("rel", ">="), "textdegree": ("deg", "deg"), "textasciitilde": ("rel", "~"),
    "end": ("endenv", "end"), "cr": ("row", ""), "tabularnewline": ("row", ""),
}  # fmt: skip

NEGATED = {"=": "!=", "in": "notin", "<": ">=", ">": "<=", "<=": ">", ">=": "<"}

# commands that change only the looks
DROPPED = words_of("""
    checkmark blacksquare qed displaystyle textstyle scriptstyle scriptscriptstyle limits nolimits quad qquad big Big
    bigg Bigg bigl bigr Bigl Bigr biggl biggr Biggl Biggr rm bf it sf tt sl cal mathrm
    mathit mathsf mathtt mathnormal mathbf boldsymbol bm text textbf textit textrm mbox
    hline cline noindent centering allowbreak nobreak thinspace medspace thickspace
    negthinspace enspace hfill newline tiny small large Large normalsize strut mathstrut
    nonumber notag left right middle item par protect mathcal mathscr mathfrak enskip space
    mathop mathbin mathrel mathord mathopen mathclose operatorname boldmath unboldmath bigm
    biggm nulldelimiterspace triangle vartriangle odot boxed fbox
    underline blacktriangleright
    """)
# commands whose first argument is thrown away: spacing, colors, labels
SWALLOW = words_of("""
    phantom hphantom vphantom hspace vspace hskip color label tag kern mkern mskip textcolor
    colorbox overset underset stackrel
    """)

FONTS_UPRIGHT = (
    "text textrm textnormal textup textsf texttt mathrm mathsf mathtt operatorname mbox hbox emph"
    " textit textbf"
)
FONTS = (
    "mathbf mathit mathcal mathscr mathfrak mathnormal boldsymbol bm underline boxed fbox mathop"
    " mathbin mathrel mathord widehat_ pmb displaystyle_"
)

# words with a job; lower case
KEYWORDS: dict[str, tuple[str, str]] = {
    "and": ("and", "and"), "or": ("or", "or"), "mod": ("mod", ""), "modulo": ("mod", ""),
    "implies": ("implies", ""), "union": ("setop", "union"),
    "intersection": ("setop", "intersection"), "times": ("*", "times"), "plus": ("+", "plus"),
    "minus": ("-", "minus"), "negative": ("-", "negative"), "positive": ("+", "positive"),
    "to": (":", "to"), "except": ("except", ""), "excluding": ("except", ""),
}  # fmt: skip

CURRENCY = {"$": "$", "€": "€", "£": "£", "¥": "¥", "₹": "₹", "₩": "₩", "￥": "¥"}

DELIMITERS = {
    "|": ("l|", "r|"), "\\|": ("lnorm", "rnorm"), "\\vert": ("l|", "r|"),
    "\\Vert": ("lnorm", "rnorm"), "\\lvert": ("l|", "r|"), "\\rvert": ("l|", "r|"),
    "\\lVert": ("lnorm", "rnorm"), "\\rVert": ("lnorm", "rnorm"), "]": ("l]", "]"),
    "[": ("[", "r["), ".": ("", "r."), "<": ("langle", "rangle"), ">": ("rangle", "rangle"),
    "\\langle": ("langle", "rangle"), "\\rangle": ("langle", "rangle"), "\\lbrack": ("[", "r["),
    "\\rbrack": ("l]", "]"),
}  # fmt: skip
