"""Signs that a new sentence replaces or contradicts a held one: same slot with another value, a reversal, a negation."""

from __future__ import annotations

import re

from . import forms

_VERBS = frozenset(
    "is are was were has have had uses use used means mean equals equal becomes become became plays play works work worked speaks "
    "speak died owns own runs run takes take needs need requires require lives live stays stay listens listen points point expires "
    "expire defaults lies lie costs cost holds hold allows allow supports support returns return belongs belong starts start ends end "
    "lasts last goes go keeps keep gets get must "
    "ist sind war waren hat haben nutzt nutzen verwendet verwenden benutzt heißt heißen läuft laufen liegt liegen braucht brauchen "
    "beträgt betragen gilt gelten lautet lauten steht stehen wird werden gehört gehören kostet kosten dauert dauern zeigt zeigen geht "
    "gehen beginnt beginnen hört muss müssen "
    "est sont était utilise utilisent s'appelle vaut valent tourne tournent exige exigent écoute écoutent expire expirent appartient "
    "a ont fait font va vont commence doit doivent "
    "se es son está están era usa usan tiene tienen vale valen corre corren expira expiran sale salen empieza debe deben "
    "é são foi usam tem têm fica ficam è sono ha hanno usano vale gira scade deve "
    "si heet gebruikt gebruiken draait draaien är heter använder jest są używa ma mają "
    "является это работает работают использует используют стоит находится равен равна составляет".split()
)
_PARTICIPLE = re.compile(
    r"^(?:[a-z]{2,}(?:ed|ied)|built|kept|held|sent|made|written|run|read|drawn|taken|given|shown|known|done|bound|found|set|put|"
    r"cut|hidden|driven|chosen|frozen|broken|drained|stockée?s?|signée?s?|construite?s?|gardée?s?|relue?s?)$"
)
_NUMBER = re.compile(
    r"^[-+~<>≤≥v#$€£]*\d[\d.,:/x]*(?:%|[a-zA-Z]{1,3})?$|^(?:zero|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|fifteen|"
    r"sixteen|twenty|thirty|forty|fifty|sixty|ninety|hundred|thousand|half|a|an|einen?|eine|zwei|drei|vier|fünf|sechs|sieben|acht|neun|zehn|"
    r"elf|zwölf|zwanzig|dreißig|vierzig|fünfzig|sechzig|neunzig|hundert|halb|une?|deux|trois|quatre|cinq|six|sept|huit|neuf|dix|quinze|"
    r"vingt|trente|quarante|cinquante|soixante|quatre-vingt-dix|cent|uno?|una|dos|tres|cuatro|cinco|seis|siete|ocho|nueve|diez|quince|"
    r"veinte|treinta|cuarenta|cincuenta|sesenta|noventa|cien)$",
    re.I,
)
_UNIT = re.compile(
    r"^(?:minutes?|seconds?|hours?|days?|weeks?|months?|years?|times|percent|mal|uhr|tage?|stunden?|minuten?|wochen?|jours?|heures?|días|horas)$",
    re.I,
)
_DENSE_VALUE = re.compile(
    r"^(?:[\x21-\x7e ]{1,40}|[0-9０-９〇零一二三四五六七八九十百千万两兩半한두세네다섯여섯일곱여덟아홉열하나둘셋넷 ]{1,8})$"
)

_FUNCTION = frozenset(
    "in by of at to for from with on the a an and or as than that not only no more less if when because so but "
    "von mit in auf bei für aus zu zum zur am im und oder der die das ein eine nicht wenn weil nur dass "
    "de du des le la les un une à en dans par pour avec et ou ne pas si el los las del al con para por y o sin "
    "и или не в на с для из по если".split()
)
_PRONOUN = frozenset(
    "this that these those it its there here they he she we you i if which who what and or but so when where functions value default "
    "es dies dieser diese hier wenn und oder aber er sie wir ihr man il elle ils elles nous vous ce cela ceci si et ou mais on "
    "esto eso ella ellos nosotros si y o pero isso isto ele eles nós questo quello lui lei noi это он она они мы вы если и но".split()
)
_NOW = frozenset(
    "now currently today nowadays meanwhile jetzt inzwischen mittlerweile nun désormais maintenant ahora actualmente agora ora adesso теперь сейчас".split()
)
_ENDS = (",", ":", ";", ".", "!", "?")
LONGEST_TAIL = 12

_NEGATIONS = frozenset(
    "not no never none nor without cannot longer unable isn't aren't wasn't weren't doesn't didn't don't hasn't haven't hadn't couldn't "
    "shouldn't wouldn't won't can't mustn't mayn't isnt arent wasnt doesnt didnt dont hasnt havent couldnt shouldnt wouldnt wont cant "
    "nicht nie niemals kein keine keinen keinem keiner keines ohne nirgends ne n' pas jamais aucun aucune sans plus "
    "no nunca jamás ningún ninguna sin tampoco não nunca sem nenhum nenhuma non mai senza nessun nessuna niet nooit geen zonder "
    "inte aldrig utan ikke aldri nie bez не нет никогда без нельзя".split()
)
_DENSE_NEGATIONS = re.compile(
    "ない|ません|なかった|せず|ず(?:に)|不要|禁止|不可|不能|不会|不會|不是|不用|不应|不應|不再|不得|不(?=[\u4e00-\u9fff])|没有|沒有|没(?=[\u4e00-\u9fff])|无法|無法|"
    "않|안 |못 |없|아니|금지|말 것|마세요|마십시오"
)
_OPPOSITES = tuple(
    frozenset(pair.split())
    for pair in (
        "can cannot", "enable disable", "enabled disabled", "allow forbid", "allowed forbidden", "allow deny", "allow block", "allowed denied",
        "safe unsafe", "supported unsupported", "required optional", "possible impossible", "true false", "on off", "sync async",
        "synchronous asynchronous", "works fails", "mandatory optional", "public private", "before after", "always never", "include exclude",
        "accept reject", "accepts rejects", "increase decrease", "valid invalid", "blocking nonblocking", "stable unstable",
        "erlaubt verboten", "aktiviert deaktiviert", "möglich unmöglich", "sicher unsicher", "activé désactivé", "autorisé interdit",
        "activado desactivado", "permitido prohibido", "ativado desativado", "attivo disattivo", "включен выключен", "включено выключено",
    )
)  # fmt: skip
_CUES = re.compile(
    r"\b(?:no longer|abandon(?:ed|s)?|supersed(?:ed|es)|deprecated|reversed|obsolete|replaced (?:by|with)|overturned|rescinded|retracted|"
    r"rolled back|nicht mehr|abgelöst|ersetzt durch|veraltet|zurückgenommen|verworfen|ne\s\S+\splus|n'est plus|remplacée? par|obsolète|abandonnée?|"
    r"ya no|reemplazad[oa] por|obsolet[oa]|não é mais|substituíd[oa] por|non è più|sostituit[oa] da|больше не|заменен[оа]? на|устарел)\b|"
    r"廃止|もはや|使わなくなった|置き換え|不再|已废弃|已廢棄|取代|弃用|더 이상|폐기|대체",
    re.I,
)
_SENTENCE = re.compile(r"(?<=[.!?])\s+|(?<=[\u3002\uff01\uff1f])\s*|\n+")
_TOPIC = re.compile("^(.{2,40}?(?:は|が|を|の値は|是|为|為|改为|使用|用|在|需要|은|는|이|가|을|를)\\s?)(.{1,40})$")


def sentences(text: str, most: int = 4) -> list[str]:
    """The first sentences of a text, without list marks."""
    found = []
    for piece in _SENTENCE.split(text[:2_000]):
        piece = piece.strip().lstrip("-*+>#0123456789.) ").strip() if not piece[:1].isdigit() else piece.strip()
        if len(piece) > 3:
            found.append(piece)
            if len(found) == most:
                break
    return found


def claims(title: str, body: str) -> list[str]:
    """The sentences by which a memory can replace another: its title and the opening of its body."""
    return list(dict.fromkeys([title.strip(), *sentences(body, 3)]))


def bucket(sentence: str) -> str:
    """Sentences of one slot share this: the first words, or the first characters where words have no spaces."""
    if forms._DENSE.match(sentence):
        return sentence[:2]
    return " ".join(w.lower() for w in sentence.split(None, 3)[:3])


def same_slot(held: str, new: str) -> bool:
    """Whether `new` gives the slot that `held` fills another value.

    Both share an opening of at least three words (40 % of the shorter) that holds a finite verb; the two tails hold
    none, are short and are no clause; the sentence does not open with a pronoun. Or they differ in one value only (a
    number, a name) that is no part of the subject. In scripts without spaces: the same topic up to its particle or
    copula, with short different tails, or one number or foreign word replaced.
    """
    if forms._DENSE.match(held) and forms._DENSE.match(new):
        return _same_topic(held, new) or _dense_value(held, new)
    a, b = _bare(held), _bare(new)
    if not a or not b or a[0].casefold().strip(".,:;") in _PRONOUN:
        return False
    n = 0
    while n < min(len(a), len(b)) and a[n].casefold() == b[n].casefold():
        n += 1
    first, second = a[n:], b[n:]
    # "is now X" after "is X": the adverb is no part of the value
    if second and second[0].casefold() in _NOW:
        second = second[1:]
    if first and first[0].casefold() in _NOW:
        first = first[1:]
    return _value_replaced(a[:n], first, second) or _tail_replaced(a[:n], first, second)


def _tail_replaced(head: list[str], first: list[str], second: list[str]) -> bool:
    n = len(head)
    if n < 3 or not first or not second or n < 0.4 * (n + min(len(first), len(second))):
        return False
    if not any(w.casefold() in _VERBS for w in head):
        return False
    # "The Beatles" and "Los Angeles" are names; "the queue" and "in March" are clauses
    if first[0] in _FUNCTION or second[0] in _FUNCTION:
        return False
    if n < 5 and any(w.endswith(_ENDS) for w in head):
        return False
    if max(len(first), len(second)) > LONGEST_TAIL:
        return False
    # "is counted per user" and "is reset at noon" say two things of one subject
    if _PARTICIPLE.match(first[0]) or _PARTICIPLE.match(second[0]):
        return False
    return not any(w.casefold() in _VERBS for w in (*first, *second)) and not _only_adds(first, second)


def _value_replaced(head: list[str], first: list[str], second: list[str]) -> bool:
    """Whether both sentences are the same but for one number or name behind the subject."""
    m = 0
    while m < min(len(first), len(second)) and first[-1 - m].casefold() == second[-1 - m].casefold():
        m += 1
    one, two, rest = first[: len(first) - m], second[: len(second) - m], first[len(first) - m :]
    if not one or not two or max(len(one), len(two)) > 3 or len(head) + m < 3 or len(head) < 2:
        return False
    if all(map(_number, one)) and all(map(_number, two)):
        # a number right behind the first noun names the thing: "Case 17 shows", "Version 3 of"
        return len(head) >= 3 or head[-1].casefold() in _VERBS
    if not (all(map(_named, one)) and all(map(_named, two))):
        return False
    return len(head) >= 3 and not any(w.casefold() in _VERBS for w in rest)


def _number(word: str) -> bool:
    return bool(_NUMBER.match(word.strip(".,;()")) or _UNIT.match(word.strip(".,;()")))


def _named(word: str) -> bool:
    """Whether a word inside a sentence is a name or an identifier."""
    bare = word.strip(".,;:()'\"")
    return bool(bare) and (
        bare[0].isupper()
        or any(c.isdigit() for c in bare)
        or any(c in bare[1:] for c in "._/@:#")
        or bare != bare.lower()
    )


def _dense_value(held: str, new: str) -> bool:
    a, b = held.rstrip("。.!！ "), new.rstrip("。.!！ ")
    n = 0
    while n < min(len(a), len(b)) and a[n] == b[n]:
        n += 1
    m = 0
    while m < min(len(a), len(b)) - n and a[-1 - m] == b[-1 - m]:
        m += 1
    one, two = a[n : len(a) - m], b[n : len(b) - m]
    return n >= 2 and n + m >= 4 and bool(_DENSE_VALUE.match(one) and _DENSE_VALUE.match(two))


def _bare(sentence: str) -> list[str]:
    return sentence.rstrip(".。!! ").split()


def _only_adds(first: list[str], second: list[str]) -> bool:
    """Whether one tail is the other with something added: a qualifier, not another value."""
    short, long = sorted(([w.casefold() for w in first], [w.casefold() for w in second]), key=len)
    return long[: len(short)] == short or long[-len(short) :] == short


def _same_topic(held: str, new: str) -> bool:
    a, b = held.rstrip("。.!! "), new.rstrip("。.!! ")
    if a == b:
        return False
    n = 0
    while n < min(len(a), len(b)) and a[n] == b[n]:
        n += 1
    # the shared opening must reach past a topic mark
    found = _TOPIC.match(a)
    cut = 0
    while found:
        mark = cut + found.end(1)
        if mark > n:
            break
        cut = mark
        found = _TOPIC.match(a[cut:])
    if cut < 3 or cut < 0.3 * min(len(a), len(b)):
        return False
    m = 0
    while m < min(len(a), len(b)) - n and a[-1 - m] == b[-1 - m]:
        m += 1
    first, second = a[cut : len(a) - m], b[cut : len(b) - m]
    if not first or not second or max(len(first), len(second)) > 16:
        return False
    short, long = sorted((first, second), key=len)
    if m == 0 and len(long) > 8 and not (_DENSE_VALUE.match(first) and _DENSE_VALUE.match(second)):
        return False  # another predicate: two things said of one topic
    return polarity(a) == polarity(b) and not long.startswith(short) and not long.endswith(short)


def polarity(text: str) -> int:
    """How many negations `text` holds. French `ne … pas` is one."""
    words = [w.replace("\u2019", "'") for w in forms.plain_words(forms.fold(text))]
    french = any(w == "ne" or w.startswith("n'") for w in words)
    count = 0
    for w in words:
        if w in ("ne", "plus") or w.startswith("n'"):
            count += w == "plus" and french
        elif w in _NEGATIONS or w.startswith("non-"):
            count += 1
    return count + len(_DENSE_NEGATIONS.findall(text))


def opposed(held: str, new: str) -> bool:
    """Whether one says what the other denies: the same words but for negations, or for one pair of opposites."""
    a = [w.replace("\u2019", "'") for w in forms.plain_words(forms.fold(held))]
    b = [w.replace("\u2019", "'") for w in forms.plain_words(forms.fold(new))]
    if len(a) < 3 and len(b) < 3 and not forms._DENSE.search(held):
        return False
    if forms._DENSE.search(held) and forms._DENSE.search(new):
        if (polarity(held) % 2) == (polarity(new) % 2):
            return False
        x, y = set(forms.words(held)), set(forms.words(new))
        return len(x & y) >= 0.6 * min(len(x), len(y)) if x and y else False
    extra = set(a) ^ set(b)
    if not extra:
        return False
    negated = {w for w in extra if w in _NEGATIONS}
    rest = {w for w in extra - negated if not w.startswith("n'")} - {
        "ne",
        "do",
        "does",
        "did",
        "any",
        "longer",
        "more",
        "mehr",
        "plus",
        "be",
    }
    shared = set(a) & set(b)
    if len(shared) < 2:
        return False
    if negated and (polarity(held) % 2) != (polarity(new) % 2):
        rest = {w for w in rest if not any(forms.singular(w) == forms.singular(o) for o in rest if o != w)}
        return len(rest) <= 1 and len(shared) >= 2
    extra = {forms.singular(w) for w in extra} if len(extra) == 2 else extra
    return any(pair <= extra and len(extra - pair) <= 1 for pair in _OPPOSITES) or any(
        {"un" + w, "non-" + w, "in" + w} & extra and len(extra) <= 2 for w in extra
    )


def reversal(held_title: str, new: list[str], rare: frozenset[str]) -> str:
    """The sentence of `new` that says the held claim no longer holds ("" when none does): it has a cue of reversal
    and names at least two, and half, of the held title's distinctive words (`rare`)."""
    if not rare:
        return ""
    for sentence in new:
        if _CUES.search(sentence):
            named = rare & set(forms.words(sentence))
            if len(named) >= 2 and len(named) * 2 >= len(rare):
                return sentence
    return ""


def has_cue(text: str) -> bool:
    """Whether `text` says that something no longer holds."""
    return bool(_CUES.search(text))
