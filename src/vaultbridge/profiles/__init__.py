"""Profiles: which folders, templates, bases, commands and agents of the shipped vault a person keeps."""

from vaultbridge.profiles.choice import Plan, apply, plan
from vaultbridge.profiles.inventory import shipped
from vaultbridge.profiles.shelf import Profile, available, find

__all__ = ["Plan", "Profile", "apply", "available", "find", "plan", "shipped"]
