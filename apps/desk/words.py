"""What the seed makes its records of: agents, tags, macros, views, and what people write to a help desk."""

from __future__ import annotations

AGENT_NAMES = (
    "Alice Turner", "Alina Turek", "Bruno Keller", "Camille Laurent", "Dmitri Volkov", "Erin Gallagher", "Fatima Noor",
    "George Mensah", "Helen Park", "Isaac Stone", "Jorge Ramirez", "Karin Lindqvist", "Luca Bianchi", "Lucy Bright",
    "Maya Cohen", "Nikhil Rao", "Oscar Dahl", "Rachel Adams", "Rachel Adeyemi", "Theo Marsh",
)  # fmt: skip
TEAMS = ("Support", "Billing", "Technical", "Onboarding")
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
LONG_ENDS = (
    ", as several of our colleagues in the offices of Northern Europe have reported again since the last release",
    " (third attempt; please see also what we wrote to the onboarding team about this at the beginning of the month)",
    " for everybody who uses the shared workspace of the finance department together with the nightly synchronisation",
)
"""What a subject ends in where content is "long"."""

# name, text, status, priority and tag that it sets ("" leaves them); {customer} is the first name
MACROS = (
    ("Refund sent", "Hello {customer}, we have sent the refund today. It can take up to five days to arrive.", "solved", "", "refund"),
    ("Ask for a screenshot", "Hello {customer}, could you send us a screenshot of what you see?", "pending", "", ""),
    ("Escalate to engineering", "Hello {customer}, our engineers are looking into this now.", "open", "urgent", "escalated"),
    ("Password steps", "Hello {customer}, please choose Forgot password on the sign-in page and follow the mail.", "pending", "", "login"),
    ("Known problem", "Hello {customer}, we know of this problem and will tell you once it is mended.", "pending", "low", "bug"),
    ("Close for silence", "Hello {customer}, as we have not heard from you, we close this ticket.", "closed", "", ""),
    ("Invoice corrected", "Hello {customer}, the corrected invoice is on its way to you by mail.", "solved", "", "billing"),
    ("Feature noted", "Hello {customer}, thank you for the idea. It is on our list now.", "solved", "low", "feature-request"),
    ("Hand over to billing", "Hello {customer}, our billing team takes care of this and will write to you.", "open", "high", "billing"),
)  # fmt: skip
# name, and what the view filters by
VIEWS = (
    ("Urgent and free", {"status": "open", "priority": "urgent", "assignee": "none"}),
    ("My open tickets", {"status": "open", "assignee": "1"}),
    ("Waiting on billing", {"status": "pending", "tag": "billing"}),
    ("Late", {"due": "overdue"}),
    ("Bugs to watch", {"status": "open", "tag": "bug"}),
    ("Solved for me", {"status": "solved", "assignee": "1"}),
)
CUSTOMER_NOTES = (
    "Prefers mail to calls.",
    "Contract is renewed in spring.",
    "Speak to the finance department about invoices.",
    "Pilot customer of the new reports.",
    "Asked twice for a training session.",
)
FILE_NAMES = ("error-log-{n}.txt", "export-{n}.csv", "settings-{n}.txt", "steps-{n}.md")
FILE_TEXT = (
    "Written for: {name}\nCollected on: {day}\nVersion: {major}.{minor}.{n}\nError code: E-{code}\nAttempts: {m}\n"
    "Reference: {code}-{n}\n"
)
