"""What events and cards are called."""

from __future__ import annotations

ROLES = ("Designer", "Front-end developer", "Back-end developer", "Data analyst", "Copywriter", "Account manager",
         "Marketing lead", "Tester", "Office manager", "Recruiter", "Support lead", "Legal counsel", "Finance partner")  # fmt: skip
PROJECTS = ("Atlas", "Aurora", "Beacon", "Beacon 2", "Compass", "Delta", "Falcon", "Horizon", "Horizon Lite", "Lighthouse",
            "Meridian", "Nimbus", "Orbit", "Pioneer", "Summit")  # fmt: skip
ROOMS = ("Room Alder", "Room Birch", "Room Cedar", "Room Elm", "Room Maple", "Video call", "Video call", "Lobby",
         "Phone", "Canteen")  # fmt: skip
WORK = (("Call with {company}", 30), ("Contract review {company}", 60), ("Interview with {name}", 60), ("{project} kick-off", 60),
        ("{project} review", 45), ("Proposal for {company}", 90), ("Budget {project}", 45), ("Lunch with {name}", 60),
        ("Visit from {company}", 90), ("Feedback talk with {name}", 30), ("Roadmap {project}", 60))  # fmt: skip
PRIVATE = (("Dentist", 45), ("Running with {name}", 60), ("Dinner with {name}", 90), ("Physiotherapy", 45), ("Parents' evening", 60),
           ("Car inspection", 60), ("Haircut", 45), ("Cinema with {name}", 120), ("Pick up parcel", 15), ("Call the bank", 15))  # fmt: skip
TEAM = (("Demo {project}", 45), ("Workshop {project}", 120), ("Onboarding {name}", 60), ("Retrospective {project}", 60),
        ("Usability test {project}", 60), ("Incident review {project}", 30))  # fmt: skip
OTHERS = (("Press call {company}", 30), ("Site visit {company}", 120), ("Board meeting", 90), ("Talk at {city} summit", 60),
          ("Supplier meeting {company}", 60), ("Strategy {project}", 60))  # fmt: skip
ALL_DAY = ("Birthday {name}", "{name} on leave", "Trade fair {city}", "Release {project}", "Conference {city}")
NOTES = ("Bring the latest numbers.", "Agenda follows.", "Please read the draft before.", "Dial-in is in the invitation.",
         "Ask for the signed copy.", "Park behind the building.")  # fmt: skip
LABELS = (
    ("bug", "red"),
    ("design", "violet"),
    ("research", "teal"),
    ("content", "blue"),
    ("legal", "amber"),
    ("quick win", "green"),
)
BOARDS = {
    "Website relaunch": ("Rewrite the {part} page", "New pictures for the {part} page", "Fix links on the {part} page",
                         "Test the {part} page on phones", "Translate the {part} page", "Check the {part} page for speed"),
    "Mobile app": ("Design the {part} screen", "Build the {part} screen", "Crash on the {part} screen", "Empty state of the {part} screen",
                   "Dark mode of the {part} screen", "Accessibility of the {part} screen"),
    "Product launch": ("Write the {part} announcement", "Approve the {part} announcement", "Price list for {part}", "Train sales on {part}",
                       "Record a video about {part}", "Plan the webinar about {part}"),
    "Office move": ("Order furniture for {part}", "Measure {part}", "Network sockets in {part}", "Paint {part}", "Signs for {part}",
                    "Clear out {part}"),
    "Customer onboarding": ("Import the data of {part}", "Kick-off deck for {part}", "Train the admins of {part}", "Contract with {part}",
                            "First invoice for {part}", "Welcome mail to {part}"),
}  # fmt: skip
PIECES = {
    "Website relaunch": ("home", "pricing", "about", "contact", "careers", "help", "blog"),
    "Mobile app": ("login", "profile", "search", "settings", "checkout", "inbox", "start"),
    "Product launch": ("Atlas", "Beacon", "Compass", "Meridian", "Nimbus", "Orbit", "Summit"),
    "Office move": ("the lobby", "the kitchen", "room Alder", "room Birch", "room Cedar", "the archive", "floor 2"),
    "Customer onboarding": ("Bluepine", "Everline", "Glasswork", "Kestrel", "Larkspur", "Quillon", "Valewood"),
}
COLUMNS = ("Backlog", "To do", "In progress", "Review", "Done")
STEPS = ("Ask for a quote", "Collect feedback", "Write a draft", "Get approval", "Update the wiki", "Send to translation",
         "Book a room", "Tell the team", "Check with legal", "Compare three options", "Test on a phone", "Archive the old files")  # fmt: skip
ABOUT = ("Details are in the shared folder.", "Waits for the numbers of last month.", "Talk to the agency first.",
         "Was promised for this quarter.", "See the comments of the last review.", "")  # fmt: skip
SAID = ("I can take this next week.", "Waiting for an answer.", "First version is ready for review.", "Please look at the second option.",
        "Moved to the next sprint.", "Is this still needed?")  # fmt: skip
