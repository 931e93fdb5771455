"""What a tea house may sell: the pool that a seed draws its menu from."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Range:
    """What one category may hold."""

    names: tuple[str, ...]
    """Each of at most 16 characters, no word above 10: a menu button shows it whole, in two rows at most."""
    cheapest_cents: int
    dearest_cents: int
    extras: tuple[str, ...]
    sized: bool
    """Some of its items come small or large."""


def _names(text: str) -> tuple[str, ...]:
    return tuple(name.strip() for name in text.split(","))


CATEGORIES: dict[str, Range] = {
    "Tea": Range(
        _names(
            "Green tea, Black tea, Mint tea, White tea, Fruit tea, Ginger tea, Jasmine tea, Earl Grey, Rooibos, Oolong,"
            "Sencha, Matcha, Chai, Chamomile"
        ),
        220,
        390,
        ("Lemon", "Honey", "Milk"),
        True,
    ),
    "Coffee": Range(
        _names(
            "Espresso, Americano, Latte, Cappuccino, Flat white, Mocha, Cortado, Macchiato, Filter coffee, Ristretto,"
            "Lungo, Decaf"
        ),
        200,
        450,
        ("Oat milk", "Soy milk", "Cream", "Syrup"),
        True,
    ),
    "Cold": Range(
        _names(
            "Lemonade, Cola, Apple juice, Orange juice, Tomato juice, Ginger ale, Tonic, Soda, Smoothie, Milkshake,"
            "Kombucha, Mineral water"
        ),
        250,
        480,
        ("Lime", "Mint", "Ginger"),
        True,
    ),
    "Food": Range(
        _names(
            "Bagel, Omelette, Quiche, Tomato soup, Club sandwich, Green salad, Toast, Panini, Falafel, Veggie wrap,"
            "Lasagne, Risotto, Porridge, Burrito"
        ),
        450,
        980,
        ("Cheese", "Salad", "Egg"),
        False,
    ),
    "Sweets": Range(
        _names(
            "Brownie, Cheesecake, Apple pie, Carrot cake, Lemon tart, Scone, Muffin, Macaron, Waffle, Pancakes,"
            "Tiramisu, Donut, Eclair, Ice cream"
        ),
        250,
        620,
        ("Whipped cream", "Jam", "Syrup"),
        False,
    ),
}

_HOW = ("no", "less", "more", "extra")
_WHAT = ("ice", "milk", "sugar", "foam", "salt", "sauce", "onion", "butter", "lemon", "cream", "nuts", "honey")
_WHOLE = ("to go", "in a hurry", "birthday", "for a child", "cut in two", "very hot", "with a straw", "two spoons")
NOTES = (*_WHOLE, *(f"{how} {what}" for how in _HOW for what in _WHAT))
"""What staff write on an order; at most 24 characters."""
