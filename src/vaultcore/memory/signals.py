"""Wording that says more than one observation can: generalisations, and numbers that will not stay true."""

from __future__ import annotations

import re

_HAPPENS = (
    r"(?:breaks?|broke|broken|fails?|failed|failing|crash\w*|hangs?|hung|errors?|happens?|happened|recovers?|"
    r"works?|worked|"
    r"times? out|timed out)"
)
_GENERAL = tuple(
    re.compile(pattern, re.I)
    for pattern in (
        r"\b(?:always|never|consistently|invariably)\b[^.!?\n]{0,40}\b" + _HAPPENS + r"\b",
        r"\b" + _HAPPENS + r"\b[^.!?\n]{0,20}\b(?:every (?:single )?time|without exception)\b|\bevery time\b",
        r"\bkeeps? (?:on )?(?:happening|breaking|failing|crashing|hanging)\b|\brecurring\b",
        r"\b(?:immer|stets|nie|niemals|jedes ?mal|ständig)\b[^.!?\n]{0,50}\b(?:kaputt|bricht|stürzt|hängt|"
        r"scheitert|fehlschl\w+|"
        r"schlägt|funktioniert|klappt|läuft|versagt|passiert)\b",
        r"\b(?:toujours|jamais|à chaque fois|systématiquement)\b[^.!?\n]{0,50}\b(?:échou\w+|plant\w+|cass\w+|"
        r"marche\w*|fonctionn\w+|bloqu\w+)",
        r"\b(?:siempre|nunca|cada vez|sistemáticamente)\b[^.!?\n]{0,50}\b(?:falla\w*|rompe\w*|funciona\w*|"
        r"cuelga\w*|ocurre\w*)",
        r"\b(?:sempre|nunca|mai|toda vez|ogni volta)\b[^.!?\n]{0,50}\b(?:falh\w+|quebr\w+|funzion\w+|funcion\w+|"
        r"fallisc\w+|blocc\w+)",
        r"\b(?:всегда|никогда|каждый раз|постоянно)\b[^.!?\n]{0,50}(?:пада|лома|работа|завис|ошиб|сбо)",
        r"(?:必ず|常に|いつも|毎回|絶対に?)[^。！？\n]{0,30}(?:失敗|落ち|壊れ|動[くか]|動作|止ま|エラー|発生|クラッシュ)",
        r"(?:总是|總是|一直|每次|必然|从不|從不|永远|永遠)[^。！？\n]{0,30}(?:失败|失敗|崩溃|崩潰|出错|出錯|报错|報錯|卡住|发生|發生|成功|工作)",
        r"(?:항상|언제나|매번|절대|반드시)[^.!?\n]{0,30}(?:실패|깨[지진]|멈[추춘]|오류|에러|발생|동작|작동|죽)",
    )
)
_COUNTED = re.compile(
    r"\d[\d.,  ]{0,20}\s?(?:k|m|tsd\.?|mio\.?|万|萬|천|만)?\s?(?:"
    r"(?:stars?|forks?|downloads?|users?|subscribers?|followers?|commits|contributors?|customers?|requests? per "
    r"(?:day|second))\b|"
    r"(?:sterne|nutzer|benutzer|abonnenten|kunden|aufrufe)\b|(?:étoiles|utilisateurs|abonnés|téléchargements|"
    r"clients)\b|"
    r"(?:estrellas|usuarios|suscriptores|descargas|clientes|usuários|assinantes|utenti|stelle|iscritti)\b|"
    r"(?:звёзд|звезд|пользовател|подписчик|скачиван)|"
    r"(?:個?の?スター|人?のユーザー|人の?登録者|ダウンロード|フォロワー)|"
    r"(?:个?星|名?用户|位?用户|名?用戶|次下载|次下載|粉丝|订阅者)|"
    r"(?:개의? ?스타|명의? ?(?:사용자|구독자)|다운로드|팔로워))",
    re.I,
)
_DATED = re.compile(
    r"\bas of\b|\b\d{4}-\d{2}(?:-\d{2})?\b|\b(?:stand|seit|au|le|en|a fecha de|"
    r"a)\s+\d{1,2}[./]\d{1,2}[./]\d{2,4}|\bStand\b|"
    r"\d{4}年|\d{4}년|時点|现在为止|截至|截止|기준|по состоянию на|à la date|en date du",
    re.I,
)
_SPEAKER = re.compile(
    r"^[ \t]*(?:[*_>#-]+[ \t]*)?(?:user|assistant|human|ai|system|claude|gemini|codex|benutzer|assistent|utilisateur|"
    r"usuario|asistente|"
    r"ユーザー|アシスタント|用户|用戶|助手|사용자|어시스턴트|пользователь|ассистент)\s*(?:[*_]+)?\s*[:：]",
    re.I | re.M,
)


def flags(body: str) -> list[str]:
    """Which of "generalised" and "volatile" the wording earns."""
    found = []
    text = body[:20_000]
    if any(pattern.search(text) for pattern in _GENERAL):
        found.append("generalised")
    if _COUNTED.search(text) and not _DATED.search(text):
        found.append("volatile")
    return found


def is_transcript(body: str) -> bool:
    """Whether `body` is a pasted conversation: four or more lines open with a speaker."""
    return len(_SPEAKER.findall(body[:20_000])) >= 4
