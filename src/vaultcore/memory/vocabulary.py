"""Words of several languages that the rules about sentences look for."""

from __future__ import annotations

import re

# no word that is also a common article, pronoun or noun of another of these languages
VERBS = frozenset(
    (
        "is are was were has have had uses use used means mean equals equal becomes become became plays play "
        "works work worked speaks speak died owns own runs run takes take needs need requires require lives live "
        "stays stay listens listen points point expires expire defaults lies lie costs cost holds hold allows "
        "allow supports support returns return belongs belong starts start ends end lasts last goes go keeps keep "
        "gets get must ist sind war waren hat haben nutzt nutzen verwendet verwenden benutzt heißt heißen läuft "
        "laufen liegt liegen braucht brauchen beträgt betragen gilt gelten lautet lauten steht stehen wird werden "
        "gehört gehören kostet kosten dauert dauern zeigt zeigen geht gehen beginnt beginnen hört muss müssen est "
        "sont était utilise utilisent s'appelle vaut valent tourne tournent exige exigent écoute écoutent expire "
        "expirent appartient ont vont commence doit doivent es son está están era usan tiene tienen vale valen "
        "corre corren expira expiran salen empieza debe deben é são foi usam tem têm fica ficam è sono ha hanno "
        "usano vale gira scade deve heet gebruikt gebruiken draait draaien är heter använder jest są używa mają "
        "является это работает работают использует используют стоит находится равен равна составляет"
    ).split()
)
PARTICIPLE = re.compile(
    r"^(?:[a-z]{2,}(?:ed|ied)|built|kept|held|sent|made|written|run|read|drawn|taken|given|shown|known|done|"
    r"bound|found|set|put|"
    r"cut|hidden|driven|chosen|frozen|broken|drained|stockée?s?|signée?s?|construite?s?|gardée?s?|relue?s?)$"
)
NUMBER = re.compile(
    r"^[-+~<>≤≥v#$€£]*\d[\d.,:/x]*(?:%|[a-zA-Z]{1,3})?$|^(?:zero|one|two|three|four|five|six|seven|eight|nine|"
    r"ten|eleven|twelve|fifteen|"
    r"sixteen|twenty|thirty|forty|fifty|sixty|ninety|hundred|thousand|half|a|an|einen?|eine|zwei|drei|vier|fünf|"
    r"sechs|sieben|acht|neun|zehn|"
    r"elf|zwölf|zwanzig|dreißig|vierzig|fünfzig|sechzig|neunzig|hundert|halb|une?|deux|trois|quatre|cinq|six|"
    r"sept|huit|neuf|dix|quinze|"
    r"vingt|trente|quarante|cinquante|soixante|quatre-vingt-dix|cent|uno?|una|dos|tres|cuatro|cinco|seis|siete|"
    r"ocho|nueve|diez|quince|"
    r"veinte|treinta|cuarenta|cincuenta|sesenta|noventa|cien)$",
    re.I,
)
UNIT = re.compile(
    r"^(?:minutes?|seconds?|hours?|days?|weeks?|months?|years?|times|percent|mal|uhr|tage?|stunden?|minuten?|"
    r"wochen?|jours?|heures?|días|horas)$",
    re.I,
)
DENSE_VALUE = re.compile(
    r"^(?:[\x21-\x7e ]{1,40}|"
    r"[0-9０-９〇零一二三四五六七八九十百千万两兩半한두세네다섯여섯일곱여덟아홉열하나둘셋넷 ]{1,8})$"
)

FUNCTION = frozenset(
    (
        "in by of at to for from with on the a an and or as than that not only no more less if when because so but "
        "von mit in auf bei für aus zu zum zur am im und oder der die das ein eine nicht wenn weil nur dass de du des "
        "le la les un une à en dans par pour avec et ou ne pas si el los las del al con para por y o sin и или не в "
        "на с для из по если"
    ).split()
)
PRONOUN = frozenset(
    (
        "this that these those it its there here they he she we you i if which who what and or but so when where "
        "functions value default es dies dieser diese hier wenn und oder aber er sie wir ihr man il elle ils elles "
        "nous vous ce cela ceci si et ou mais on esto eso ella ellos nosotros si y o pero isso isto ele eles nós "
        "questo quello lui lei noi это он она они мы вы если и но"
    ).split()
)
NOW = frozenset(
    (
        "now currently today nowadays meanwhile jetzt inzwischen mittlerweile nun désormais maintenant ahora "
        "actualmente agora ora adesso теперь сейчас"
    ).split()
)
