"""Whether the first word of an English text is a verb."""

from __future__ import annotations

from typing import Final

__all__ = ["is_verb"]


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_AUXILIARY: Final = _words(
    """am is are was were be been being do does did done have has had having can could may might must shall should
    will would let let's cannot need dare used ain't get gets got"""
)
_BASE: Final = _words(
    """abandon absorb accept access accompany accomplish achieve acknowledge acquire act activate adapt add address
    adjust admire admit adopt advance advise affect afford agree aim align allocate allow alter amend analyze
    analyse announce answer anticipate apologize appear apply appoint appreciate approach approve argue arise
    arrange arrive ask assemble assert assess assign assist assume assure attach attack attempt attend attract
    avoid await awake bake balance ban base bathe battle bear beat become beg begin behave behold believe belong
    bend benefit bet beware bind bite blend bless blow board boil book boost borrow bounce bow brace break breathe
    breed brew bring broadcast browse brush build burn burst bury buy calculate call calm cancel capture care carry
    carve cast catch categorize cause celebrate challenge change charge chart chase chat check cheer cherish chew
    choose chop circle cite claim clap clarify classify clean clear click climb cling close code collaborate collect
    color combine come comfort command comment commit communicate compare compete compile complain complete comply
    compose compute conceal concentrate conclude conduct confess confirm confront connect conquer consider consist
    construct consult consume contact contain contemplate continue contrast contribute control convert convey
    convince cook cool cooperate coordinate cope copy correct cost count cover crack craft crash crawl create cross
    cry cultivate cure customize cut dance dare deal debate debug decide declare decline decorate decrease dedicate
    defeat defend define delegate delete deliver demand demonstrate deny depart depend deploy derive describe
    deserve design desire destroy detail detect determine develop devote diagnose die differ dig digest diminish dip
    direct disagree disappear discard discover discuss dismiss display distinguish distribute dive divide document
    double download draft drag draw dream dress drift drill drink drive drop dry earn ease eat echo edit educate
    elaborate elect elevate eliminate embark embody embrace emerge emphasize employ empower empty enable encounter
    encourage end endure enforce engage enhance enjoy enlarge ensure enter entertain envision equip erase escape
    establish estimate evaluate examine exceed exchange execute exercise exhibit exist expand expect experience
    experiment explain exploit explore export expose express extend extract face facilitate fail fall fancy favor
    fear feature feed feel fetch fight figure file fill filter find finish fire fit fix flee flip float flow fly
    focus fold follow forbid force forecast forge forget forgive form formulate foster frame free freeze fry fuel
    fulfill function gain gather gaze generate give glance gaze go govern grab graduate grant grasp greet grill grin
    grip grow guard guess guide handle hang happen harness hasten hate have head heal hear heat help hesitate hide
    highlight hike hire hit hold honor hop hope host hover hug hunt hurry identify ignite ignore illuminate
    illustrate imagine implement imply import impose improve include incorporate increase indicate infer inform
    ingest inherit initialize initiate inject innovate insert insist inspect inspire install instruct integrate
    intend interact interpret intervene introduce invent invest investigate invite involve isolate join journey
    judge juggle jump justify keep kick kill kiss knead kneel knit knock know label lack land last laugh launch lay
    lead leap learn leave lend lengthen lessen let level leverage lie lift light like limit link list listen live
    load locate lock log look loosen lose love lower maintain make manage manipulate map march mark marry master
    match matter maximize mean measure measure meditate meet melt memorize mend mention merge migrate mind minimize
    mix model modify monitor motivate mount mourn move multiply name narrate navigate need negotiate nod normalize
    note notice notify nourish nurture obey observe obtain occur offer open operate opt optimize order organize
    originate outline overcome overlook own pack paint park participate partner pass paste pause pay perceive
    perform permit persist persuade phone pick pilot place plan plant play plead please plot plow plug point polish
    ponder pop portray pose position possess post pour practice praise pray preach predict prefer prepare prescribe
    present preserve press pretend prevent print prioritize proceed process produce program progress prohibit promise
    promote prompt pronounce propose protect protest prove provide prune publish pull pump punch punish purchase
    pursue push put qualify question quit quote race rain raise range rank rate reach react read realize reason
    rebuild recall receive recite recognize recommend reconsider record recover recruit recycle redefine redirect
    reduce refer refine reflect refresh refuse regard register regret regulate reinforce reject rejoice relate relax
    release rely remain remember remind remove render renew rent repair repeat rephrase replace reply report
    represent request require rescue research reserve resist resolve respect respond rest restart restore restrict
    result resume retain retire retrieve return reveal reverse review revise revisit reward rewrite ride ring rinse
    rise roam roll rotate rub ruin rule run rush sail satisfy save savor say scale scan scatter schedule score
    scrape scream scroll seal search secure see seek seem seize select sell send sense separate serve set settle sew
    shake shape share sharpen shed shelter shift shine ship shoot shop shout show shrink shut sign signal simmer
    simplify simulate sing sink sip sit skip slay sleep slice slide slip slow smell smile smooth snap soak soar solve
    sort sound spark speak specify speed spell spend spin split spot spray spread sprinkle squeeze stand stare start
    state stay steal steer stem step stick stimulate stir stop store strengthen stress stretch strike strip strive
    structure struggle study submit subscribe substitute subtract succeed suffer suggest suit summarize supply
    support suppose surf surpass surprise surrender surround survey survive suspect suspend sustain swallow swap
    sway swear sweep swim swing switch synthesize tackle tag tail take talk target taste teach tear tell tend test
    thank think thrive throw tie tighten tilt toast toggle tolerate toss touch tour trace track trade train transfer
    transform translate transport trap travel traverse treat trigger trim trust try tune turn twist type uncover
    undergo understand undertake unfold unite unleash unlock unpack unveil update upgrade upload uphold urge use
    utilize validate value vanish vary venture verify view visit visualize volunteer vote wait wake walk wander want
    warm warn wash waste watch water wave weaken wear weave weep weigh welcome whip whisk whisper widen win wipe wish
    witness wonder work worry wrap write yearn yell yield zoom blink chuckle clutch coax compliment cough crouch
    dispatch dodge doze drag drum flash flicker fling giggle glow groan growl hum leap linger march mumble murmur
    nap peek peel perch plunge pounce prowl rattle roar scurry shiver shrug sigh sketch sneak sneeze sniff snore
    sparkle splash sprint stroll stumble tap tease tiptoe tremble trot tumble wag wink yawn ignite hike jog"""
)
_PAST: Final = _words(
    """became began bent bit blew bled bought bound bore broke bred brought built burst came cast caught chose clung
    crept cut dealt drew drank drove dug ate ate fed fell felt fled flew forbade forgave forgot fought found froze
    gave gone given went ground grew heard held hid hung kept knelt knew known laid lay led left lent lit lost made
    meant met paid put quit ran rang rode rose said sang sat saw seen sent set sewed shone shook shot showed shrank
    shut slept slid sold sought spent spoke spoken sprang spread stole stood struck stuck swam swept swore swung
    taken taught thought threw told took tore torn understood wept woke won wore worn wound wove written wrote bitten
    broken chosen driven eaten fallen flown forgotten frozen hidden ridden risen shaken stolen sworn thrown"""
)
# Verbs that at the head of a text are as a rule nouns, adjectives or prepositions, where a verb follows.
_FINITE: Final = _words(
    "is are was were has had have can will would could should may might must does did"
)
_VOWELS: Final = "aeiou"
_NEVER: Final = _words(
    "like base bear calm clear close cool dry empty free level light long slow warm open"
)
_LINKS: Final = _words(
    "a an the your this that these those it them him her me us my our their his its up out"
)


def is_verb(word: str, follow: str = "") -> bool:
    """Whether a caseless first word is a verb, given the word after it.

    A form that is a noun too ("love", "dreams") is none where a finite verb follows ("Love is").
    """
    word = word.split("'", maxsplit=1)[0] if word.endswith(("n't", "'s", "'re", "'ve")) else word
    if word in _AUXILIARY or word + "n" in _AUXILIARY or word.removesuffix("n") in _AUXILIARY:
        return True
    if (word.endswith("ing") and _of_ing(word)) or word in _PAST or _of_past(word):
        return True
    base = word if word in _BASE else _of_third(word)
    if not base:
        return False
    if follow in _FINITE:
        return False
    return base not in _NEVER or follow in _LINKS


def _of_third(word: str) -> str:
    for end, put in (("ies", "y"), ("es", ""), ("s", "")):
        if word.endswith(end) and word[: -len(end)] + put in _BASE:
            return word[: -len(end)] + put
    return ""


def _stems(stem: str) -> tuple[str, ...]:
    doubled = stem[:-1] if len(stem) > 2 and stem[-1] == stem[-2] else stem
    return stem, stem + "e", doubled, stem[:-1] + "y" if stem.endswith("i") else stem


def _of_ing(word: str) -> bool:
    stem = word[:-3]
    return len(stem) > 1 and (
        any(form in _BASE for form in _stems(stem))
        or (stem.endswith("y") and stem[:-1] + "ie" in _BASE)
    )


def _of_past(word: str) -> bool:
    return word.endswith("ed") and any(form in _BASE for form in _stems(word[:-2]))
