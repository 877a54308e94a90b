"""What the vault tells an agent at work in another repository, unasked: little, and only what reaches it."""
