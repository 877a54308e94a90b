"""Signs that a sentence denies another: a negation more, an opposite, a word that says it no longer holds."""

from __future__ import annotations

import re

from . import forms

_NEGATIONS = frozenset(
    (
        "not no never none nor without cannot longer unable isn't aren't wasn't weren't doesn't didn't don't hasn't "
        "haven't hadn't couldn't shouldn't wouldn't won't can't mustn't mayn't isnt arent wasnt doesnt didnt dont "
        "hasnt havent couldnt shouldnt wouldnt wont cant nicht nie niemals kein keine keinen keinem keiner keines "
        "ohne nirgends ne n' pas jamais aucun aucune sans plus no nunca jamás ningún ninguna sin tampoco não nunca "
        "sem nenhum nenhuma non mai senza nessun nessuna niet nooit geen zonder inte aldrig utan ikke aldri nie bez "
        "не нет никогда без нельзя"
    ).split()
)
_DENSE_NEGATIONS = re.compile(
    "ない|ません|なかった|せず|ず(?:に)|不要|禁止|不可|不能|不会|不會|不是|不用|不应|不應|不再|不得|不(?=[\u4e00-\u9fff])|没有|沒有|没(?=[\u4e00-\u9fff])|无法|無法|"
    "않|안 |못 |없|아니|금지|말 것|마세요|마십시오"
)
_OPPOSITES = tuple(
    frozenset(pair.split())
    for pair in (
        "can cannot", "enable disable", "enabled disabled", "allow forbid", "allowed forbidden", "allow deny",
        "allow block", "allowed denied",
        "safe unsafe", "supported unsupported", "required optional", "possible impossible", "true false",
        "on off", "sync async",
        "synchronous asynchronous", "works fails", "mandatory optional", "public private", "before after",
        "always never", "include exclude",
        "accept reject", "accepts rejects", "increase decrease", "valid invalid", "blocking nonblocking",
        "stable unstable",
        "erlaubt verboten", "aktiviert deaktiviert", "möglich unmöglich", "sicher unsicher", "activé désactivé",
        "autorisé interdit",
        "activado desactivado", "permitido prohibido", "ativado desativado", "attivo disattivo",
        "включен выключен", "включено выключено",
    )
)  # fmt: skip
_CUES = re.compile(
    r"\b(?:no longer|abandon(?:ed|s)?|supersed(?:ed|es)|deprecated|reversed|obsolete|replaced (?:by|with)|"
    r"overturned|rescinded|retracted|"
    r"rolled back|nicht mehr|abgelöst|ersetzt durch|veraltet|zurückgenommen|verworfen|ne\s\S+\splus|n'est plus|"
    r"remplacée? par|obsolète|abandonnée?|"
    r"ya no|reemplazad[oa] por|obsolet[oa]|não é mais|substituíd[oa] por|non è più|sostituit[oa] da|больше не|"
    r"заменен[оа]? на|устарел)\b|"
    r"廃止|もはや|使わなくなった|置き換え|不再|已废弃|已廢棄|取代|弃用|더 이상|폐기|대체",
    re.I,
)


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
    if abs(len(held) - len(new)) > 24:
        return False
    a = [w.replace("\u2019", "'") for w in forms.plain_words(forms.fold(held))]
    b = [w.replace("\u2019", "'") for w in forms.plain_words(forms.fold(new))]
    if len(a) < 3 and len(b) < 3 and not forms.holds_dense(held):
        return False
    if forms.holds_dense(held) and forms.holds_dense(new):
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
