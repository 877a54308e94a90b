"""The command by which a client starts the bridge, in this machine's form and in one that can be committed."""

from __future__ import annotations

import os
import sys
from dataclasses import dataclass

from vaultcore.errors import VaultError

SERVER = "om"
VARIABLE = "OM_VAULT"


@dataclass(frozen=True)
class Command:
    """`program` and `arguments` for this machine; `vault` as clients may write it where they expand variables.

    portable: the vault's place comes from the environment variable OM_VAULT instead of this machine's path.
    """

    program: str
    arguments: tuple[str, ...]
    portable: bool = False

    def parts(self, variable: str, *extra: str) -> tuple[str, list[str]]:
        """(program, arguments), with `variable` (how the client spells OM_VAULT's value) in a portable one."""
        return self.program, [argument.replace("{vault}", variable) for argument in (*self.arguments, *extra)]


def command(code: str, vault: str, portable: bool) -> Command:
    """The command for the vault at `vault`; its code lies in `code` (the same folder, unless the vault was adopted)."""
    entry = os.path.join(code, "om.py")
    if not os.path.isfile(entry):
        raise VaultError(f"{entry} is missing, and clients start it: run this from a clone of om-vault")
    if portable:
        if code != vault:
            raise VaultError(f"{vault} has no om.py of its own, so there is no portable form: leave out --portable")
        return Command("python3", ("{vault}/om.py", "serve"), True)
    arguments = (entry, "serve") if code == vault else (entry, "serve", "--vault", vault)
    return Command(interpreter(), arguments)


def interpreter() -> str:
    """An absolute path to the Python that om.py needs first: not the environment's own, which may be made anew."""
    base = getattr(sys, "_base_executable", None) or sys.executable
    return os.path.abspath(base)


def is_ours(words: list[object]) -> bool:
    """Whether a server's command and arguments start a bridge of this kind, of whichever vault."""
    text = [word for word in words if isinstance(word, str)]
    return any("om.py" in word for word in text) and any("serve" in word for word in text)
