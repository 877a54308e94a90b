"""Work records: what happened in a repository, once, as a note of the vault. Pure: a vault on disk is all it needs."""
