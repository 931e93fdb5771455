"""What the seed makes its records of."""

from __future__ import annotations

PRODUCTS = (
    ("DES-10", "Logo design", "piece", 48_000), ("DES-20", "Brochure layout", "page", 9_500), ("DES-30", "Poster design", "piece", 26_000),
    ("WEB-10", "Website concept", "piece", 120_000), ("WEB-20", "Web page build", "page", 34_000), ("WEB-30", "Website hosting", "month", 2_900),
    ("WEB-40", "Website maintenance", "month", 14_500), ("PHO-10", "Product photography", "hour", 11_000), ("PHO-20", "Portrait session", "piece", 18_500),
    ("TXT-10", "Copywriting", "hour", 8_500), ("TXT-20", "Proofreading", "hour", 5_200), ("TXT-30", "Translation", "page", 4_400),
    ("CON-10", "Consulting", "hour", 13_500), ("CON-20", "Workshop, half day", "piece", 64_000), ("CON-30", "Workshop, full day", "piece", 110_000),
    ("PRI-10", "Business cards, 250", "box", 5_900), ("PRI-20", "Flyers, 1000", "box", 12_400), ("PRI-30", "Roll-up banner", "piece", 13_900),
    ("PRI-40", "Letterhead, 500", "box", 7_800), ("VID-10", "Video editing", "hour", 9_800), ("VID-20", "Short film", "piece", 240_000),
    ("SUP-10", "Support plan", "month", 7_500), ("SUP-20", "Training", "hour", 9_000), ("TRA-10", "Travel, flat rate", "piece", 6_000),
)  # fmt: skip
EXTRAS = ("Express surcharge", "Additional revision", "Stock pictures", "Courier", "Font licence", "Reserved domain")
SPENDINGS = {
    "advertising": ("Search ads", "Trade fair stand", "Newspaper notice"),
    "insurance": ("Liability insurance", "Equipment insurance"),
    "office supplies": ("Printer paper", "Toner", "Desk chair", "Notebooks"),
    "rent": ("Studio rent", "Storage room"),
    "software": ("Design software", "Cloud storage", "Password manager"),
    "telephone": ("Mobile contract", "Office line"),
    "travel": ("Train tickets", "Hotel", "Taxi", "Flight"),
    "utilities": ("Electricity", "Heating", "Water"),
    "vehicles": ("Fuel", "Car service", "Parking"),
}
NOTES = ("", "", "Please pay by bank transfer.", "Thank you for your order.", "Delivered in two parts.", "Discount agreed by telephone.")  # fmt: skip
OTHER_BANK_LINES = (
    ("Account fee", -1_290), ("Interest", 412), ("Cash withdrawal", -20_000), ("Card deposit", 15_000),
    ("Tax office", -148_300), ("Transfer to savings", -50_000), ("Insurance refund", 8_740), ("Standing order", -32_000),
)  # fmt: skip
TEAMS = ("Design", "Web", "Photo", "Text", "Consulting", "Print", "Video", "Support", "Training")
ITEMS = ("Paper A4", "Paper A3", "Toner black", "Toner colour", "Ink set", "Labels", "Envelopes", "Cardboard", "Foil", "Tape", "Binders", "Pens", "Markers", "Batteries")  # fmt: skip
COSTS = (
    "Rent",
    "Salaries",
    "Software",
    "Travel",
    "Insurance",
    "Telephone",
    "Advertising",
    "Vehicles",
    "Utilities",
    "Training",
)
