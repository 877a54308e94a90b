"""What the hooks do: the same for every agent, in the vault's own words."""
