"""What the shop may sell: kinds of goods, their names, colours and sizes."""

from __future__ import annotations

from dataclasses import dataclass

COLOURS = {
    "Black": "#26282c", "White": "#f4f2ee", "Navy": "#27406b", "Olive": "#6b7444", "Rust": "#b1532f", "Sand": "#d6c19c",
    "Sage": "#9bb193", "Sky": "#86b6d9", "Plum": "#71405e", "Mustard": "#d6a02c", "Rose": "#dc97a2", "Graphite": "#5b6067",
}  # fmt: skip
CLOTHES = ("S", "M", "L", "XL")
SHOES = ("39", "40", "41", "42", "43")


@dataclass(frozen=True, slots=True)
class Kind:
    """One kind of goods."""

    name: str
    picture: str
    """Which drawing of `art.py`."""
    low: int
    """Cheapest price, whole dollars."""
    high: int
    about: str
    sizes: tuple[str, ...] = ("One size",)
    step: int = 0
    """How much each larger size costs more, dollars."""


# fmt: off
CATEGORIES: dict[str, tuple[Kind, ...]] = {
    "Clothing": (
        Kind("T-shirt", "tee", 19, 45, "Heavy cotton jersey that keeps its shape, wash after wash.", CLOTHES),
        Kind("Hoodie", "hoodie", 49, 95, "Brushed inside, double-stitched outside, with a hood that stays up.", CLOTHES),
        Kind("Rain jacket", "jacket", 89, 190, "Three layers, taped seams, and pockets that close.", CLOTHES),
        Kind("Beanie", "beanie", 18, 39, "Ribbed merino wool, knitted in one piece."),
    ),
    "Shoes": (
        Kind("Sneakers", "sneaker", 69, 140, "Light, low, and made to be resoled.", SHOES),
        Kind("Hiking boots", "boot", 119, 240, "Full-grain leather with a stiff sole for rough ground.", SHOES),
    ),
    "Bags": (
        Kind("Backpack", "backpack", 69, 150, "Waxed canvas, a padded sleeve for a laptop, and a chest strap.", ("18 L", "24 L"), 15),
        Kind("Tote bag", "tote", 25, 59, "Carries a week of groceries and folds to the size of a hand."),
        Kind("Travel bag", "duffel", 79, 180, "Fits under the seat in front of you.", ("30 L", "45 L"), 25),
    ),
    "Kitchen": (
        Kind("Mug", "mug", 12, 29, "Stoneware, glazed by hand; no two are quite alike."),
        Kind("Teapot", "teapot", 35, 79, "Pours without dripping, with a strainer of steel.", ("0.6 L", "1.0 L"), 10),
        Kind("Frying pan", "pan", 45, 110, "Cast iron that gets better with every meal.", ("24 cm", "28 cm"), 12),
        Kind("Water bottle", "bottle", 19, 42, "Keeps cold for a day and warm for half of one.", ("0.5 L", "0.75 L"), 6),
    ),
    "Living": (
        Kind("Table lamp", "lamp", 49, 129, "A warm light with a dimmer in the cord."),
        Kind("Armchair", "chair", 240, 520, "Solid oak and wool felt, for long evenings."),
        Kind("Wool blanket", "blanket", 59, 140, "Woven from new wool, with a fringe.", ("130 cm", "150 cm"), 20),
        Kind("Plant pot", "pot", 14, 45, "Fired twice, with a saucer.", ("Small", "Large"), 9),
        Kind("Candle", "candle", 15, 38, "Burns for forty hours and smells of a forest after rain."),
    ),
    "Office": (
        Kind("Notebook", "notebook", 9, 26, "Paper that ink does not bleed through, and a ribbon.", ("A5", "A4"), 4),
        Kind("Headphones", "headphones", 79, 260, "Thirty hours of sound, and silence when you want it."),
        Kind("Speaker", "speaker", 59, 180, "Small enough for a shelf, loud enough for a kitchen."),
        Kind("Wall clock", "clock", 35, 90, "A quiet movement; you will not hear it tick."),
    ),
    "Outdoor": (
        Kind("Tent", "tent", 159, 390, "Up in four minutes, and dry in a storm.", ("2 persons", "3 persons"), 60),
        Kind("Lantern", "lantern", 29, 75, "Charges by day, shines by night."),
        Kind("Sleeping bag", "sleepingbag", 79, 210, "Down that stays warm when it is damp.", ("Regular", "Long"), 15),
        Kind("Umbrella", "umbrella", 24, 60, "Holds against wind of ninety kilometres an hour."),
    ),
}
# fmt: on
LINES = (
    "Fjord",
    "Harbor",
    "Cedar",
    "Alpine",
    "Meadow",
    "Tundra",
    "Coast",
    "Ember",
    "Juniper",
    "Larch",
    "Nordic",
    "Orchard",
    "Prairie",
    "Quarry",
    "Ridge",
    "Saffron",
    "Timber",
    "Vale",
    "Willow",
    "Zephyr",
)  # fmt: skip
ALIKE = ("Fjord", "Fjord II", "Fjord Pro", "Fjell", "Fjorda", "Ford", "Fjord Lite", "Fjord Plus")
LONG = (
    "with Reinforced Seams and a Lifetime Guarantee",
    "from the Autumn Collection for Cold and Wet Regions",
    "in a Numbered Edition, Made to Order by Hand",
)
REVIEWS = {
    5: (("Just right", "Better than I hoped. I would buy it again at once."), ("Love it", "Well made, and it came a day early."),
        ("Five stars", "Used every day for a month, and it still looks new.")),
    4: (("Very good", "Nearly perfect; the colour is a little darker than in the picture."), ("Good value", "Does what it should.")),
    3: (("It is fine", "Not bad, not special. The packaging was too much."), ("Mixed", "Good quality, but it runs small.")),
    2: (("Expected more", "It works, but it feels cheaper than it is."),),
    1: (("Sent it back", "Arrived with a scratch, and nobody answered my letter."),),
}  # fmt: skip
CODES = (
    "WELCOME",
    "SPRING",
    "AUTUMN",
    "FRIENDS",
    "LARCH",
    "WEEKEND",
    "THANKS",
    "STUDIO",
    "HELLO",
    "BUNDLE",
    "EARLY",
    "COZY",
)
TAGS = ("gift", "vip", "fragile", "wholesale", "call first", "priority", "repeat")
NOTES = (
    "Leave it with the neighbour.",
    "Please ring twice.",
    "Gift: no invoice in the box.",
    "Customer asked for a matching set.",
)
PLACES = (
    ("Vienna", "Austria", "1070"), ("Montreal", "Canada", "H2X 1Y4"), ("Toronto", "Canada", "M5V 2T6"), ("Copenhagen", "Denmark", "2100"),
    ("Lyon", "France", "69003"), ("Berlin", "Germany", "10437"), ("Munich", "Germany", "80331"), ("Dublin", "Ireland", "D02 X285"),
    ("Milan", "Italy", "20121"), ("Amsterdam", "Netherlands", "1017 AB"), ("Oslo", "Norway", "0182"), ("Lisbon", "Portugal", "1200-109"),
    ("Porto", "Portugal", "4050-253"), ("Madrid", "Spain", "28004"), ("Stockholm", "Sweden", "114 55"), ("Zurich", "Switzerland", "8004"),
    ("London", "United Kingdom", "N1 7AA"), ("Manchester", "United Kingdom", "M4 1HQ"), ("Boston", "United States", "02116"),
    ("Seattle", "United States", "98101"), ("Austin", "United States", "78704"), ("Denver", "United States", "80202"),
)  # fmt: skip
"""City, country, postal code."""
