"""Text in HTML and SVG."""


def escape(text: str) -> str:
    """`text` for HTML. The module `html` does the same, and takes as long to import as half of this package."""
    for character, entity in (
        ("&", "&amp;"),
        ("<", "&lt;"),
        (">", "&gt;"),
        ('"', "&quot;"),
        ("'", "&#x27;"),
    ):
        text = text.replace(character, entity)
    return text
