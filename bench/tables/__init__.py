"""The tables of papers, measured again: what bench/papers is made of."""
