"""What the seed makes its records of: names, companies, and what people write to a help desk."""

from __future__ import annotations

FIRST_NAMES = (
    "Amara", "Anders", "Aisha", "Ben", "Bianca", "Carlos", "Carla", "Chen", "Clara", "Daniel", "Daniela", "Deepa",
    "Elena", "Emil", "Emily", "Farah", "Felix", "Grace", "Greta", "Hannah", "Hugo", "Ines", "Ivan", "Jana", "Joan",
    "John", "Jon", "Julia", "Julian", "Kenji", "Lara", "Laura", "Leon", "Liam", "Lina", "Marco", "Maria", "Marta",
    "Mei", "Mina", "Nadia", "Nina", "Noah", "Olga", "Omar", "Paula", "Pedro", "Priya", "Rafael", "Rosa", "Samir",
    "Sara", "Sofia", "Stefan", "Tara", "Tomas", "Victor", "Yuki", "Zoe",
)  # fmt: skip
LAST_NAMES = (
    "Abebe", "Almeida", "Andersen", "Anderson", "Bakker", "Bauer", "Becker", "Brown", "Costa", "Cruz", "Diaz",
    "Fischer", "Fisher", "Garcia", "Hansen", "Hanson", "Haddad", "Ito", "Jensen", "Khan", "Kim", "Kowalski", "Larsen",
    "Larson", "Lee", "Lopez", "Martin", "Martinez", "Meyer", "Meyers", "Moreau", "Nakamura", "Novak", "Okafor",
    "Olsen", "Patel", "Pereira", "Petrov", "Ricci", "Rossi", "Santos", "Schmidt", "Silva", "Singh", "Suzuki", "Tanaka",
    "Taylor", "Walker", "Weber", "Wong",
)  # fmt: skip
AGENT_NAMES = (
    "Alice Turner", "Alina Turek", "Bruno Keller", "Camille Laurent", "Dmitri Volkov", "Erin Gallagher", "Fatima Noor",
    "George Mensah", "Helen Park", "Isaac Stone", "Jorge Ramirez", "Karin Lindqvist", "Luca Bianchi", "Lucy Bright",
    "Maya Cohen", "Nikhil Rao", "Oscar Dahl", "Rachel Adams", "Rachel Adeyemi", "Theo Marsh",
)  # fmt: skip
TEAMS = ("Support", "Billing", "Technical", "Onboarding")
COMPANIES = (
    "Aldergate", "Arcadia Freight", "Arcadia Foods", "Bluepine", "Brightwell Clinics", "Cobalt Ridge", "Copperfield",
    "Dovetail Studio", "Eastbank Legal", "Everline", "Fernhill Hotels", "Fernhill Homes", "Glasswork", "Harborlight",
    "Inkwell Press", "Juniper & Co", "Kestrel Energy", "Larkspur", "Lindenhof", "Marlow Textiles", "Millstone",
    "Northgate Labs", "Northgate Logistics", "Oakhurst School", "Orchid Travel", "Pinecrest", "Quillon",
    "Redwood Dental", "Riverton", "Silverbirch", "Stonebridge", "Tidewater Marine", "Umberfield", "Valewood",
    "Westbrook Bank", "Willowby",
)  # fmt: skip
CITIES = (
    "Amsterdam", "Austin", "Berlin", "Boston", "Chicago", "Copenhagen", "Denver", "Dublin", "Helsinki", "Lisbon",
    "London", "Lyon", "Madrid", "Manchester", "Milan", "Montreal", "Munich", "Oslo", "Porto", "Prague", "Seattle",
    "Stockholm", "Toronto", "Vienna", "Zurich",
)  # fmt: skip
TAGS = (
    "billing", "bug", "api", "login", "refund", "export", "mobile", "onboarding", "security", "integration",
    "feature-request", "performance",
)  # fmt: skip

# subject, what the customer wrote first, the tags that fit; {n} and {m} are numbers, {day} is a day of the week
TOPICS = (
    ("Invoice {n} was charged twice", "Our card shows two charges for invoice {n}. Please refund one of them.", ("billing", "refund")),
    ("Invoice {n} shows the wrong tax rate", "The tax on invoice {n} should be {m} %. Could you issue a corrected one?", ("billing",)),
    ("Refund for order {n} has not arrived", "You confirmed the refund for order {n} last {day}, but nothing has arrived.", ("refund", "billing")),
    ("Cannot log in after password reset", "I reset my password on {day} and now every attempt says the account is locked.", ("login", "security")),
    ("Login code never arrives", "The six-digit code does not reach me, neither by mail nor by text message.", ("login",)),
    ("Two-factor device lost", "My phone was stolen on {day}. How do I move two-factor sign-in to a new one?", ("login", "security")),
    ("Export stops at {m} %", "The CSV export of our contacts stops at {m} % and then shows an empty page.", ("export", "bug")),
    ("Export of report {n} is missing columns", "Report {n} used to have a column for the region. It is gone since {day}.", ("export", "bug")),
    ("API returns error {n}", "Since {day} the endpoint for contacts answers with error {n} about once in {m} calls.", ("api", "bug")),
    ("API limit too low for nightly sync", "Our nightly sync needs about {n} calls an hour. Can the limit be raised?", ("api", "integration")),
    ("Webhook {n} fires twice", "Webhook {n} is delivered twice for every change, {m} seconds apart.", ("api", "integration", "bug")),
    ("Calendar integration lost its connection", "The calendar has been out of sync since {day}. Connecting again does not help.", ("integration",)),
    ("App crashes when opening project {n}", "The mobile app closes as soon as I open project {n}. Others open fine.", ("mobile", "bug")),
    ("Push notifications arrive late", "Notifications reach the phones of our team about {m} minutes late.", ("mobile", "performance")),
    ("Dashboard takes {m} seconds to load", "With our data the dashboard takes {m} seconds to load, every time.", ("performance",)),
    ("Search is slow in workspace {n}", "Searching in workspace {n} takes very long since {day}.", ("performance", "bug")),
    ("How do we add {m} seats", "We are hiring and need {m} more seats this month. What is the best way to add them?", ("onboarding", "billing")),
    ("Import of {n} contacts failed", "The import of {n} contacts failed with no message at all. The file is attached.", ("onboarding", "bug")),
    ("Training session for new colleagues", "Could somebody show the product to {m} new colleagues on {day}?", ("onboarding",)),
    ("Dark mode for the report editor", "Most of us work in the evening. A dark report editor would help a lot.", ("feature-request",)),
    ("Please let us sort boards by owner", "We have {m} boards by now and would like to sort them by owner.", ("feature-request",)),
    ("Security questionnaire {n}", "Our auditors ask for answers to questionnaire {n} by {day}.", ("security",)),
    ("Suspicious sign-in from unknown device", "I got a mail about a sign-in on {day} that was not me. What should I do?", ("security", "login")),
    ("Change billing address for account {n}", "We moved. Please use the new address for account {n} from now on.", ("billing",)),
    ("Cancel subscription at end of month", "Please do not renew our subscription. We will stay until the end of the month.", ("billing",)),
    ("Discount code {n} is rejected", "Discount code {n} from your newsletter is rejected at the checkout.", ("billing",)),
    ("Attachment larger than {m} MB is refused", "Uploading a file larger than {m} MB fails, although our plan allows it.", ("bug",)),
    ("Shared link {n} asks for a password", "Guests who open shared link {n} are asked for a password that we never set.", ("security", "bug")),
)  # fmt: skip

CUSTOMER_LINES = (
    "Any news on this? It still happens on our side.",
    "Thank you for the quick answer. I will try it and let you know.",
    "I have tried what you suggested, with the same result.",
    "It seems to work now, but I would like to be sure before we close this.",
    "A colleague of mine sees the same thing on another computer.",
    "Could you tell me when to expect an answer?",
    "I have attached a picture of what I see.",
)
REPLY_LINES = (
    "Thanks for getting in touch. I am looking into this and will come back to you today.",
    "Could you tell me which browser and version you use?",
    "I have passed this on to our engineers and will keep you posted.",
    "This should be mended now. Please try again and tell me whether it works.",
    "I have checked your account and everything looks right from here.",
    "Sorry for the trouble. I have started this again on our side.",
)
NOTE_LINES = (
    "Seen the same with two other accounts this week.",
    "Waiting for the billing team to confirm.",
    "Customer prefers a call in the morning.",
    "Logs show nothing unusual around that time.",
    "Handed over from chat, see the transcript.",
)
