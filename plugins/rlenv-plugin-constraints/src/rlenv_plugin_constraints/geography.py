"""Facts that two of IFBench's instructions ask for: capitals of Europe by latitude, countries of
Africa.
"""

from __future__ import annotations

from typing import Final

from .lists import in_order

__all__ = ["AFRICA", "CAPITALS"]

# From north to south, to 45 degrees.
CAPITALS: Final = in_order("capitals")

_OTHERS = {
    "burkina faso": (),
    "cabo verde": ("cape verde",),
    "central african republic": (),
    "congo": (
        "republic of the congo",
        "congo republic",
        "congo brazzaville",
        "republic of congo",
        "congo republic of the",
        "the republic of the congo",
    ),
    "dr congo": (
        "democratic republic of the congo",
        "democratic republic of congo",
        "congo democratic republic of the",
        "congo kinshasa",
        "drc",
        "congo drc",
        "congo dr",
        "the democratic republic of the congo",
        "congo the democratic republic of the",
    ),
    "cote d ivoire": ("ivory coast", "cote divoire"),
    "equatorial guinea": (),
    "eswatini": ("swaziland",),
    "gambia": ("the gambia", "gambia the"),
    "guinea bissau": (),
    "sao tome and principe": (),
    "sierra leone": (),
    "south africa": (),
    "south sudan": (),
    "western sahara": (),
}
# Every name, small and without marks, and the country it names.
AFRICA: Final[dict[str, str]] = {name: name for name in in_order("african_countries")} | {
    name: country for country, names in _OTHERS.items() for name in (country, *names)
}
