"""`om tidy`: move finished work to the archive, with every link to it and in it kept true."""

from vaultbridge.tidy.moves import Move, Skip, Tidying, apply, plan

__all__ = ["Move", "Skip", "Tidying", "apply", "plan"]
