"""The tables and figures of papers that `bench/papers` and `bench/reproduce` measure."""

from tables import aided, bloom, circuits, phasing, switching

PAPERS = {
    "circuits": circuits.PAPER,
    "bloom": bloom.PAPER,
    "helper": aided.PAPER,
    "phasing": phasing.PAPER,
    "switching": switching.PAPER,
}
