"""The name in the corner: a lamp, its beam, and the word, in the theme's ink."""

from viz.theme import Theme


def logo(theme: Theme) -> str:
    """SVG, 32 pixels high."""
    cells = [(30, 12, 0.9), (38, 9, 0.55), (38, 17, 0.7), (46, 6, 0.25), (46, 14, 0.45), (46, 22, 0.3)]
    beam = "".join(
        f'<rect x="{x - 12}" y="{y - 1}" width="7" height="7" rx="1.5" fill="{theme.encoder}" opacity="{opacity}"/>'
        for x, y, opacity in cells
    )
    return (
        '<svg xmlns="http://www.w3.org/2000/svg" width="150" height="32" viewBox="0 0 150 32">'
        f'<path d="M4 8 h5 l6 4 v7 l-6 4 h-5 z" fill="{theme.chrome}"/>{beam}'
        f'<text x="52" y="22" font-family="Georgia, serif" font-weight="600" font-size="19" '
        f'fill="{theme.ink}">Headlight</text></svg>'
    )
