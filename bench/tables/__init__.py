"""The tables of papers, measured again; the modules of bench/papers."""
