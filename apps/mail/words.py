"""What people write in the mail client's data."""

from __future__ import annotations

LABELS = (
    ("Customers", "blue"),
    ("Finance", "green"),
    ("Urgent", "red"),
    ("Travel", "amber"),
    ("Team", "violet"),
    ("Later", "grey"),
)
FOLDERS = ("Projects", "Receipts", "Recruiting")
THINGS = (
    "oak desk", "label printer", "standing lamp", "meeting table", "coffee machine", "projector", "office chair",
    "water filter", "shelf system", "notice board", "door lock", "sound panel", "carpet tile", "monitor arm",
)  # fmt: skip
PROJECTS = (
    "Atlas launch", "Website relaunch", "Warehouse move", "Autumn catalogue", "Price review", "Trade fair", "Data clean-up",
    "New packaging", "Supplier audit", "Office plants", "Winter campaign", "Brand colours", "Returns process",
    "Training plan", "Delivery tracking", "Service desk",
)  # fmt: skip
MEETINGS = (
    "the budget", "the roadmap", "the new contract", "the hiring plan", "the service level", "the delivery dates",
    "the pilot", "the quarterly figures", "the site visit", "the insurance", "the onboarding", "the renewal",
    "the floor plan", "the photo shoot",
)  # fmt: skip
DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday")
TIMES = ("9:00", "9:30", "10:00", "10:30", "11:00", "13:30", "14:00", "14:30", "15:00", "16:00")
ROOMS = ("Maple", "Birch", "Cedar", "Rowan", "Aspen", "Hazel")

QUESTIONS = (
    ("Delivery of the {thing}", "When will the {thing} that we ordered be delivered? Our order number is {order}."),
    ("Warranty of the {thing}", "How long is the warranty of the {thing}? I could not find it on your page."),
    ("Return of the {thing}", "We would like to return the {thing} because it does not fit. How do we do that?"),
    ("Price of the {thing}", "What would {n} pieces of the {thing} cost us, including delivery?"),
    ("Spare part for the {thing}", "Do you still sell spare parts for the {thing}, model {model}?"),
    ("Damaged {thing}", "The {thing} arrived with a scratch on the left side. Could you send a replacement for model {model}?"),
    ("Assembly of the {thing}", "Is there a manual for the {thing}, model {model}? The one in the box is in another language."),
)  # fmt: skip
ANSWERS = (
    "Thank you for writing. I will find out and come back to you.",
    "Thanks for your message. Our team is looking into it.",
    "Let me check this with my colleagues.",
)
THANKS = (
    "Thank you, that helps.", "Great, thanks a lot.", "Perfect. I look forward to hearing from you.",
    "Thanks for the quick reply.", "Understood, thank you.",
)  # fmt: skip
PROJECT_OPENERS = (
    "Here is where we are with the {project}: the first half is done, and the rest is planned for {day}. What is missing from your side?",
    "We should agree on the next steps for the {project}. I suggest that we close the open points by {day}.",
    "The draft for the {project} is ready. Please have a look and tell me by {day} what you think.",
)
PROJECT_REPLIES = (
    "Looks good to me. I only miss the costs.", "I can take over the part with the suppliers.",
    "I agree. Let us keep it short.", "Please wait for the figures from finance before we go on.",
    "My part is done. The file is in the shared folder.", "Can we move this by a week? I am away until {day}.",
    "Fine for me. Who tells the customers?", "I have added two points at the end.",
)  # fmt: skip
NEWSLETTERS = (
    ("The Morning Ledger", "ledger.example", ("Markets before breakfast", "What the figures say", "Five numbers for the week", "A quiet month")),
    ("Garden & Roof", "gardenroof.example", ("Plants that need no light", "Rain, and what to do with it", "A roof in spring", "Soil for small pots")),
    ("Stack Weekly", "stackweekly.example", ("Queues, explained", "A database in a file", "Tests that run fast", "The case for plain text")),
    ("Rail & Sea Offers", "railsea.example", ("Two nights by the coast", "Night trains are back", "Ferries at half price", "Spring in the mountains")),
    ("Kitchen Notes", "kitchennotes.example", ("Bread without kneading", "One pot, five dinners", "Salt, fat, lemon", "A better lunch box")),
)  # fmt: skip
NEWS_BODIES = (
    "In this issue: three short reads, one long one, and a photo from a reader.",
    "We have read the papers so that you need not. The summary takes four minutes.",
    "This week we asked twelve people the same question. Their answers surprised us.",
)
SPAM = (
    ("You have won a voucher", "Prize Desk", "prizes.example", "Congratulations! Your voucher is waiting. Send us your details today."),
    ("Cheap watches for you", "Time Bargains", "bargains.example", "Brand watches at a tenth of their price, only this week."),
    ("Your parcel is on hold", "Parcel Notice", "parcel-notice.example", "Pay a small fee and we release your parcel at once."),
    ("Earn from home", "Home Income", "homeincome.example", "Work two hours a day and earn like a manager."),
    ("Lose weight while asleep", "Slim Sleep", "slimsleep.example", "Doctors are amazed at this pillow."),
)  # fmt: skip
SENT = (
    ("Greetings from the fair", "It was good to meet you at the fair. I will send the samples this week."),
    ("Our visit in spring", "We would like to visit you in the second week of the month. Does that suit you?"),
    ("Photos of the new office", "The photos are ready. I will put them on the page tomorrow."),
    ("Question about your terms", "Could you tell me how many days we have to pay?"),
    ("Thank you for the tour", "Thank you for showing us around. We learned a lot."),
    ("New opening hours", "From next month on we open at eight and close at five."),
    ("Reminder: signed copy", "Could you send the signed copy of the agreement?"),
    ("Welcome to the team", "I am glad that you are joining us. Your desk is ready."),
)  # fmt: skip
DRAFTS = (
    ("Lunch next week", "Shall we have lunch next week? I know a new place."),
    ("Changed address", "Please send the next delivery to our new address."),
    ("Feedback on the sample", "The sample is good. The colour could be a little darker."),
)
SIGNATURE_LINE = "Kind regards"
