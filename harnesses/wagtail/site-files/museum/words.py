"""What the museum's pages, pictures and people are called."""

from __future__ import annotations

SECTIONS = {
    "Visit": ("Opening hours", "Tickets and prices", "Getting here", "Accessibility", "Groups and schools", "Café and shop", "Guided tours", "Lost property"),
    "Exhibitions": ("Ships in bottles", "The last whalers", "Lighthouses of the north", "Charts and pilots", "Sailors' tattoos", "Knots and ropes", "Ice harbour 1929", "Divers and divers' bells"),
    "Collections": ("Model ships", "Navigation instruments", "Figureheads", "Photographs", "Logbooks", "Uniforms", "Paintings"),
    "Learning": ("School workshops", "Teachers' packs", "Holiday club", "Evening lectures", "Work experience", "Knot of the month"),
    "Research": ("Reading room", "Publications", "Fellowships", "Digital archive", "Image licences"),
    "About": ("Our history", "The building", "Trustees", "Annual reports", "Volunteering", "Press contacts", "Privacy"),
}  # fmt: skip
POSTS = (
    "A sextant comes home", "Winter hours begin", "New lift for the east wing", "The cooper's apprentice", "Saving the old tide clock",
    "A whale's ear bone", "Letters from the Elsinore", "Painting the lightship", "The harbour in fog", "Two hundred knots",
    "Our roof is green", "The pilot's daughter", "Storm damage repaired", "A cannon ball in the garden", "Meet the boatbuilders",
    "Night at the museum", "The herring years", "A captain's medicine chest", "Counting puffins", "Rope walk rediscovered",
    "The diver who came back", "Seaweed on paper", "Radio from the ice", "Twelve anchors", "The cat of the Aurora",
    "Summer film evenings", "A map with a mistake", "The youngest stoker", "Bells of the bay", "Salt and silver", "Tea from Canton",
    "The harbour master's chair",
)  # fmt: skip
AUTHORS = ("Ines Okafor", "Jonas Lindqvist", "Priya Raman", "Tom Ashby", "Wei Zhang")
TAGS = ("harbour", "ships", "people", "repairs", "events", "archive", "nature", "trade")
PICTURES = (
    "Lighthouse at dusk", "Brass sextant", "Blue fishing boat", "Harbour wall", "Rope coil", "Red buoy", "Old compass", "Chart room",
    "Tall ship", "Gulls on the quay", "Anchor chain", "Captain's cabin", "Diver's helmet", "Tide clock", "Storm glass", "Figurehead Aurora",
    "Green lantern", "Oak barrel", "Signal flags", "Whale vertebra", "Ship's bell", "Model of the Elsinore", "Boat shed", "Net and floats",
    "Pilot cutter", "Ice harbour", "Wooden pulley", "Reading room lamp", "Museum front door", "East wing lift", "Café terrace", "Garden cannon",
)  # fmt: skip
DOCUMENTS = (
    "Annual report 2023", "Annual report 2024", "Ticket prices", "Site plan", "Loan conditions", "Teachers' pack knots", "Teachers' pack tides",
    "Press release lift", "Press release summer", "Volunteer handbook", "Reading room rules", "Image licence form",
)  # fmt: skip
PEOPLE = {
    "ines": ("Ines", "Okafor", ("Editors",)),
    "jonas": ("Jonas", "Lindqvist", ("Editors",)),
    "priya": ("Priya", "Raman", ("Moderators",)),
    "tom": ("Tom", "Ashby", ("Editors", "Press office")),
    "wei": ("Wei", "Zhang", ("Moderators", "Shop")),
    "marta": ("Marta", "Kowalska", ("Shop",)),
    "samuel": ("Samuel", "Adeyemi", ("Press office",)),
    "lucia": ("Lucia", "Ferreira", ()),
}
REDIRECTS = {
    "/hours": "Opening hours",
    "/prices": "Tickets and prices",
    "/map": "Getting here",
    "/jobs": "Volunteering",
    "/archive": "Digital archive",
    "/press": "Press contacts",
}
SENTENCES = (
    "The harbour has kept its shape for three hundred years.", "Most of what we show was given by families of the town.",
    "Please ask at the desk if you would like to see more.", "The old crane still turns when the wind is right.",
    "Every object has a number, and every number has a story.", "Children under twelve come in free.",
    "Our volunteers repaired the planks by hand.", "It was found in a drawer that nobody had opened since 1931.",
    "The tide clock loses four minutes a year.", "A new label explains what the crew called it.",
    "Bring a warm coat, for the shed is not heated.", "The letters can be read in the reading room on Thursdays.",
)  # fmt: skip
