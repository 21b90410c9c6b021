"""The wording around a stated value: what refuses it, doubts it, or announces it."""

from __future__ import annotations

from .patterns import DENIED_THAT, pattern

clause = pattern(
    r"(?<=[\d*])\s?[(（](?=(?:since|because|as)\b[^()（）]*[)）][\s.]*\Z)"
    r"|(?:,\s*(?:as|so(?!,?\s+in\s+total)|which|where|who|with|even\s+though(?=[^,;]*\d))"
    r"|,?\s*\b(?:since|because|so"
    r" that|given"
    r" that|whereas|(?:so\s*,?\s+)?in\s+total(?![^.]*,\s*so\b)))\b|\s[–—]\s|\s-\s(?=[a-z]{2})"
    r"|,\s*(?=(?:(?:[^\W\d_]+\s+){0,3}\d+\s(?:\w+\s)?)?(?:less|more|fewer|greater|smaller"
    r"|larger)\s+than\s+\d)|(?<=\d)\s?[(（](?!\s*(?:mod|base|in|for|if|when|where|or"
    r"|as)\b)(?=[^()（）]*(?:[^\W\d_]{2}|[\u0900-\u9fff]))(?=[^\d\\]*\d[^()（）<>=\\{}$]*[)）][\s.]"
    r"*\Z)"
)

joint = pattern(
    r"[\s,;$]*(?:and|or|&|、|和|or\s+else|as\s+well\s+as)?[\s,;$(]*(?:[a-zA-Z]\s*=\s*)?"
)

doubt = pattern(
    r"\b(?:or|maybe|perhaps|possibly|might|could|may|alternatively|either|otherwise|unsure"
    r"|instead|depending|else|not\s+sure|also|but|unless|though|although|however)\b|或"
)

refused = pattern(
    r"(?:\b(?:not(?!\s+it\b)|never|cannot|neither|nor|except|without|unlike)\b|n't\b"
    r"|n’t\b)[a-z\s]{0,12}$"
    r"|\b(?:anything|everything|nothing|all|any|everyone)\s+but\s*$"
    r"|\b(?:at\s+(?:least|most)|up\s+to|over|above|below|under|beyond|almost|nearly)\s*$"
    r"|\b(?:more|less|greater|fewer|larger|smaller|bigger|higher|lower|other|rather)\s+than\s*$"
    rf"|\b{DENIED_THAT}"
    r"|\bout\s+of\s*$|\bbetween\s*$|\binstead\s+of\s*$"
)

denial = pattern(
    r"[\s$*)–—]*\b(?:(?:is|are|was|were|does|do|did|can|could|would)(?:n't|n’t|\s+not|\s+never)"
    r"|cannot|fails)\b|[\s$*)]*\bnot\b(?!\s*[\d$-])|[\s$*)–—]*\b(?:(?:this|that|it)\s+)?(?:is"
    r"|are|would\s+be)\s+(?:is\s+)*(?:an?\s+)?(?:prime|composite|odd|even|positive|negative"
    r"|(?:ir)?rational|integer|divisible|wrong|incorrect|impossible|excluded|rejected|discarded"
    r"|eliminated|ruled\s+out|too)\b|[^.,;\d]{0,40},?\s*\bbut\s+(?:\S+\s+){0,2}?(?:is\s+not"
    r"|isn['’]t|not)(?:\s+(?:it|so|true|right|correct|the\s+case))?[\s.!]*\Z"
    r"|[\s$*)]*[—–]\s*(?:an?\s+)?(?:mistake|error)[\s.]*\Z|[^.;\d]{0,40}\bis\s+not\s+so\b"
    r"|(?:(?!\b(?:because|since|as|so|other|others|rest|if|option)\b"
    r"|(?-i:\b[A-J]\b))[^.;\d]){0,40}\b(?:is|are|be)\s+(?:is\s+|um\s+)*(?:an?\s+)?(?:wrong"
    r"|incorrect|false|mistaken|(?:mistake|error)[\s.]*\Z)(?!\w)"
)

# Behind a value: words under which alone it holds, or which make it a bound.
condition = pattern(
    r"(?:[\s$*]+[a-z]+){0,2}[\s$*]+(?:less|more|fewer|greater|larger|smaller)\s+than\b"
    r"|[^.;]*?\b(?:if|unless|provided|assuming|depending|or\s+(?:any|more|less|fewer|greater"
    r"|above|below|over|another|some|so|else))\b|[\s,*$(]*or\s+(?!about\b|approx|equivalent"
    r"|simply\b|roughly\b|around\b)[a-zA-Z]{2}"
)

# Behind a dash or a comma: words that take back what stood before it.
doubt_ahead = pattern(
    r"[\s,]*(?:(?:turned\s+out|proved)\s+(?:to\s+be\s+)?(?:wrong|incorrect|false|mistaken)\b|no\b|unless\b|wait|actually|or\b|maybe|perhaps|sorry|rather|(?:(?:this|that"
    r"|it)\s+)?(?:is\s+)+(?:wrong|incorrect|not)\b|not\s+(?:the\s+)?(?:correct\s+"
    r"|right\s+)?(?:answer|solution|correct|right)\b)"
)

letter = pattern(
    r"\(([A-J])\)|\b(?:[Oo]ption|choice|letter|answer|choose|select"
    r"|pick)s?\s+(?:is\s+)?([A-J])\b(?!['’(])|\b([A-J])\s+(?:is\s+(?:the\s+)?(?:correct|right"
    r"|answer)\b|(?:correct|right)(?=\s*(?:[.,;!]|\Z)))|\bis\s+([A-J])\s+(?:[a-z]+\s+)"
    r"?(?:correct|right|answer)\b|\b(?:[Ii]t|[Tt]his|[Tt]hat)(?:['’]s|\s+is)\s+\(?([A-J])\)?(?=[\s.!]*\Z)"
    r"|\b(?:[Ii]t|[Tt]hat|[Aa]nswer)\s+(?:has\s+to|must|should)\s+be\s+\(?([A-J])\)?(?=[\s.,!]|\Z)"
    r"|\A[\s\w,]{0,12}\b[Oo]nly\s+(?:option\s+|choice\s+)?\(?([A-J])\)?\s+(?!fails|contradicts|violates"
    r"|misses|ignores)(?:satisf|work|fit|match|meet|hold|is|remain|make|fulfil)",
    0,
)

vague = pattern(r"\d-?ish\b")

magnitude = pattern(
    r"\s+(?:(?:hundred|thousand|million|billion|trillion|dozen)\b|out\s+of\s+\d+\b(?![.,]\d))"
)

# Behind a number: it is a time of day.
meridiem = pattern(r"(?<=[\d])\s?[ap](?:\.\s?m\.|m\b)")

# "B", "la B", "B, my friend", "B which is correct": an option, and nothing that could be another.
lone_option = pattern(
    r"(?:(?i:the|la|le|el|lo|il|o|a|die|der|das|de|het|option|letter|choice)\s+)?\(?(?P<letter>[A-J])\)?"
    r"(?P<rest>(?:,\s+(?!(?i:so|then|since|because|as)\b)[^\dA-Z.=$\\]{2,40}"
    r"|\s+(?:(?:qui|que|che|die|which|that)\s+)?is\s+(?:the\s+)?(?:correct|right)(?:\s+answer)?)?)[\s.!]*",
    0,
)

# "which means the area is 30": what is behind it is concluded.
amounts_to = pattern(r"(?:means|makes|gives|implies|shows|leaves|yields)\b(?!\s+no)")

# Before a value: the one before it, said again.
restating = pattern(
    r"(?:\bi\.?\s?e\.?|\bthat\s+is(?:\s+to\s+say)?|\bin\s+other\s+words|\bnamely|\bor\s+equivalently)"
    r"[\s,:$]*\Z"
)

copula = pattern(r"\b(?:is|are|was|were|equals?|has|have)\b")

# Between two equations: the second follows from the first.
derives = pattern(
    r"\b(?:<<then>>|gives?|giving|yields?|yielding|means|implies|get|and\s+so)\b|⇒|⟹|→"
)
reason = pattern(r"\b(?:since|because|as|from|if|check\w*|for)\b")

# Before a value: it is what another is a part of.
partitive = pattern(
    r"\b(?:out\s+of|of\s+(?:the|all|these|those|its|his|her|their)|de\s+(?:los|las|les)|des|von\s+den|dei"
    r"|delle|dos|das)[\s$*]*\Z"
)

# A calculation with numbers alone, and what it comes to.
calculation = pattern(
    r"\d[\d.,)%°\w]*\s*(?:[-+−–*/×·x÷:∙⋅]|\\(?:times|cdot|div))\s*[($€£]*\s*\d[^=\n]{0,60}=\s*(?:<<[^<>]*>>)?"
    r"[\s$€£]*(-?\d[\d,]*(?:\.\d+)?)(?![\d.,]*\s*[-+*/×·÷=])"
)

# Behind a value: it counts thousandths.
permille = pattern(r"\s*(?:‰|(?:per|for)\s+(?:mill?e?|(?:one\s+)?thousand)\b(?!\s+[a-z]))")

# What a sentence comes to after a value that it had: "5, but it should be 7".
turn = pattern(
    r"(?:\bbut\b|[,;–—])(?:\s+(?:this|that|it|no|wait|is|are"
    r"|was)\b,?)*\s+(?:(?:<<turns>>)\b(?!\s+not\b)|rather(?!\s+than)|no(?=[\s,]+(?:wait|it|that"
    r"|[a-z]\s?=|[\d$\\-])))"
)

then = pattern(r"\b(?:<<then>>)\b")

# A number in words; "one" alone is more often a pronoun.
number_words = pattern(
    r"(?<![\w-])(?!one\b(?!\s+(?:hundred|thousand|million|and\s+an?\s+(?:<<parts>>)"
    r"|<<parts>>)\b))(?:<<numerals>>)(?:(?:\s+and\s+|[\s-]+)(?:<<numerals>>))*(?:[\s-]"
    r"+(?:<<parts>>)|\s+and\s+an?\s+(?:<<parts>>))?(?![\w-])"
)

# "one out of six", "1 in 6": a chance.
odds = pattern(
    r"\b(\d{1,20}|<<numerals>>)\s+(?:out\s+of|in)\s+(?:every\s+)?(\d{1,20}"
    r"|(?:<<numerals>>)(?:[\s-](?:<<numerals>>))*)\b(?![.,]\d|[\w-])"
)
chance = pattern(r"\b(?:chances?|probability|odds|likelihood|out\s+of)\b")

# What begins the choice among candidates: "x = 1 or 3; since x > 2, x = 3".
selection = pattern(
    r"[;；؛]|,\s*(?:[^\W\d_]{1,4}\s+)?(?=(?:since|because|as|given\s+that|only)\b|[a-z]\s?[<>])|[.。"
    r"]\s*(?=(?:since|because|as|only|[a-z]\s?[<>])\b)"
)
selects = pattern(
    r"\b(?:since|because|as|so|only|must|given|therefore|thus|hence|then|positive|negative|take"
    r"|choose|keep|select)\b|[<>≤≥]|\\(?:le|ge|lt|gt)q?\b"
)
compared = pattern(r"[<>≤≥≠]|\\(?:le|ge|lt|gt|ne)q?(?![a-z])", 0)

# A measure in words that ends what a sentence concludes: "…, so the other side is nine cm".
measured = pattern(
    r"(?:\bsince\b[^,;.]*,|(?:[,;。"
    r"]|\b(?:<<then>>)\b)(?=[^,;\d]*\b(?:<<then>>|is|are|equals"
    r"|has)\b))[^,;\d]*?\b(?:<<numerals>>)(?:[\s-]+(?:<<numerals>>))*\s+(?:<<measures>>)"
    r"\b(?:\s+\w+)?[\s.。]*\Z"
)

# Behind a value: a unit, which counts where the table has it.
unit = pattern(
    r"[\s~]*(?:(?:square|cubic)\s+)?([a-zA-Z]{2,15})\b(?:\s*\^?\s?[23²³](?!\w))?(?:\s*(?:/"
    r"|\bper\b)\s*[a-zA-Z]+\b)?",
    0,
)

unsettled = pattern(
    r"\b(?:(?:correct|right)\s+is\s+not\s+it|torn between|hesitate"
    r" between|answer\b[^.\d]{0,30}\bnot\b(?!.*\d)|not\b[^.\d]{0,40}\banswer[\s.]*\Z|whether|or"
    r" so|or thereabouts|if the answer|(?:is|was|are)"
    r" not(?=[\s).!]*$)|(?:can(?:not|'t|’t)|could(?:n't|n’t| not)|unable to|impossible"
    r" to)\s+(?:tell|say|decide|know|determine|compute|calculate|find|solve|answer|evaluate"
    r"|work\s+out|be\s+(?:determined|known|decided))|(?:don't|don’t|do"
    r" not) know)\b"
)

equals = pattern(
    r"(?:\b(?:is|are|was|were|be|equals?|get|gets|makes?|has|have|gives?|yields?|obtain|to|of)\b"
    r"|[=:≈])"
    r"\s*(?:only|exactly|just|equal to|a total"
    r" of|about|approximately|thus|therefore|then|simply)?\s*[$(*]*\s*$"
)

# Anything but commands that could be a word.
words = pattern(
    r"(?<![\\\w])[^\W\d_]{2,}|[\u0900-\u0dff\u3040-\u30ff\u4e00-\u9fff\uac00-\ud7a3]", 0
)

# Right before a value: it is offered beside something else.
other = pattern(r"\S\s+or\s*(?:maybe|perhaps|else|even)?[\s$*(]*$")

# A call or an attribute, which no sentence holds.
code = pattern(r"[\w)\]]\.\w+\(|\w\([\"'\[]|__\w|\blambda\b|\bimport\s", 0)

# A verdict that opens a sentence: "Yes, because …".
verdict = pattern(
    r"[\s*]*(yes|no|true|false)[\s*]*(?:[,.;:!–—]|because\b|since\b)(?!.*\b(?:yes|no|true|false)\b)"
)

# What is said of the subject of a sentence.
predicate = pattern(
    r"(?:\A|\s)(?!(?:I|we|you)\s)[a-z]+\s(?:[^.;]*?\s)?(?:is|are|was|has|have|falls|fell|lands"
    r"|becomes)\s+(?:thus\s+|therefore\s+|on\s+an?\s+)?([^.;]{2,60}?)[\s.!*]*\Z"
)

negated = pattern(
    r"\b(?:not|never|neither|nor|cannot|impossible|false\s+that|wrong|incorrect)\b|n['’]t\b"
)

# ``C. 1223, Rigord``, "we choose D: 12 meters": a choice and its text.
option = pattern(
    r"\A\(?([A-J])[.):]\)?\s+(?=[^=]*[a-zA-Z]{2}[^=]*\Z)"
    r"|\b(?:[Cc]h(?:oose|ose|oice)|[Ss]elect|[Pp]ick|[Oo]ption)(?:\s+is"
    r"|\s+so)*\s+\(?([A-J])\s?[.):]\s|\b([A-J])\s+choose\s?[.:]\s"
    r"|,\s+(?:which|that|this)\s+is\s+(?:the\s+)?(?:option|choice|answer|letter)\s+\(?([A-J])\)?[\s.!]*\Z",
    0,
)

# A verb that is the answer: "The series converges".
behavior = pattern(r"\b((?:con|di)verges|(?:in|de)creases)\b")

bold_subject = pattern(
    r"\s*\*\*([^*\n]{1,60})\*\*\s+(?:is|was|are|were|wins|won)\s+(?:the|my|our)\b"
)

# "(C) is wrong": a choice that is spoken of and not chosen.
denied_option = pattern(
    r"(?:(?i:options?|choices?)\s+)?(?:\(?[A-J]\)?\s*(?:,|and|or|nor)\s*)*\(?[A-J]\)?\s+(?:(?:is"
    r"|was|are|were|seems)(?:\s+is)*\s+(?:not|never|wrong|incorrect|false|impossible)"
    r"|is(?:n['’]t)|cannot|can['’]t|ignores|misses|forgets|overlooks|omits|violates|fails"
    r"|contradicts)\b",
    0,
)

# Behind a value, in the order of words of many languages: it is not the answer.
denied_late = pattern(r"[^.,;。\d]{0,30}?\bis\s+not\s+it\b")

# Behind an answer: it is none.
denied_behind = pattern(
    r"[\s$)\]*\\}–—]*\s(?:(?:this|that|it)\s+)?(?:is|was|are"
    r"|would\s+be)(?:\s+is)*(?:\s+an?)?(?:\s+(?:wrong|incorrect|false|(?:not"
    r"|never)\s+(?:\w+\s+){0,2}?(?:answer|right|correct|it)\b)|n['’]t\s+(?:the|right|correct))"
)
