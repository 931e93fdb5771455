"""The conversations of one seed's mailbox: who wrote what to whom, and when."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from ..kit.pages import money
from ..kit.people import People, host
from . import words
from .files import document, table

HISTORY_MINUTES = 70 * 24 * 60
LATELY_MINUTES = 26 * 60


@dataclass(frozen=True)
class Person:
    """Somebody with an address."""

    name: str
    email: str
    phone: str = ""
    company: str = ""


@dataclass
class Letter:
    """One mail."""

    sender: Person
    text: str
    to: tuple[str, ...]
    cc: tuple[str, ...] = ()
    files: tuple[tuple[str, bytes], ...] = ()
    at: datetime = datetime.min
    status: str = "received"
    subject: str = ""
    """Empty until the conversation's is known."""


@dataclass
class Thread:
    """Mails about one thing."""

    subject: str
    letters: list[Letter]
    folder: str = "inbox"
    labels: set[int] = field(default_factory=set)
    starred: bool = False
    unread: bool = False


class Story:
    """The people of a mailbox, and where chance comes from."""

    def __init__(self, rng: random.Random, content: str, now: datetime):
        """Draw the people.

        Args:
            rng: Where chance comes from.
            content: One of the kit's kinds of content.
            now: The mailbox's moment.
        """
        self.rng = rng
        self.now = now
        self.content = content
        self.people = People(rng, content)
        self.company, *others = self.people.companies(14)
        names = self.people.names(56)
        self.me = self._person(names[0], self.company)
        self.colleagues = [self._person(name, self.company) for name in names[1:9]]
        self.partners = [self._person(name, others[i % 12]) for i, name in enumerate(names[9:45])]
        self.strangers = [self._person(name, rng.choice(others)) for name in names[45:]]
        """They write, but are no contacts yet."""
        self.things = words.THINGS[:5] if content == "alike" else words.THINGS
        self._numbers = _look_alikes(rng, 160) if content == "alike" else rng.sample(range(1000, 9999), 160)
        self.used: set[str] = set()
        """Subjects that shall not come twice."""

    @property
    def contacts(self) -> list[Person]:
        """Everybody in the address book, by name."""
        return sorted([*self.colleagues, *self.partners], key=lambda person: person.name)

    def _person(self, name: str, company: str) -> Person:
        phone = f"+{self.rng.choice((1, 31, 33, 44, 45, 49))} {self.rng.randint(201, 989)} 555 {self.rng.randint(0, 9999):04d}"
        return Person(name, self.people.mailbox(name, host(company)), phone, company)

    def number(self) -> int:
        """A number of four digits that was not used before."""
        return self._numbers.pop()

    def some(self, texts: Sequence[str]) -> str:
        """One of the texts."""
        return self.rng.choice(texts)

    def subject(self, text: str) -> str:
        """The text; longer where long content is asked for."""
        if self.content == "long" and self.rng.random() < 0.3:
            return f"{text}, as discussed with the colleagues from the northern branch last week"
        return text

    def received(self, sender: Person, text: str, to: Sequence[str] = (), cc: Sequence[str] = ()) -> Letter:
        """A mail from somebody else, signed."""
        body = f"Hello {self.me.name.split()[0]},\n\n{self.people.text(text)}\n\n{words.SIGNATURE_LINE}\n{sender.name}"
        if sender.company != self.company:
            body += f"\n{sender.company}, {sender.phone}"
        return Letter(sender, body, tuple(to) or (self.me.email,), tuple(cc))

    def sent(self, text: str, to: Sequence[str], cc: Sequence[str] = ()) -> Letter:
        """A mail of the owner's."""
        return Letter(self.me, text, tuple(to), tuple(cc), status="sent")

    def dated(self, thread: Thread, minutes_ago: int) -> Thread:
        """The conversation, its last mail that old, the others some hours or days before."""
        at = self.now - timedelta(minutes=minutes_ago)
        for letter in reversed(thread.letters):
            letter.at = at
            at -= timedelta(minutes=self.rng.randint(35, 2600))
        return thread


def all_threads(story: Story) -> list[Thread]:
    """Every conversation of the mailbox, dated and put in its place."""
    makers = ((_invoice, 18), (_order, 14), (_question, 26), (_meeting, 14), (_quote, 9), (_project, 18), (_sent, 8))
    threads = [maker(story) for maker, count in makers for _ in range(count)]
    threads += _newsletters(story)
    story.rng.shuffle(threads)
    ages = sorted(story.rng.sample(range(40, LATELY_MINUTES), 9))
    ages += sorted(story.rng.sample(range(LATELY_MINUTES, HISTORY_MINUTES), len(threads) - len(ages)))
    for thread, age in zip(threads, ages, strict=True):
        story.dated(thread, age)
        _place(story, thread, age / HISTORY_MINUTES)
    return [*threads, *_spam(story), *_outbox(story)]


def drafts(story: Story) -> list[Letter]:
    """Mails that the owner has begun: complete, but not sent."""
    people = story.rng.sample(story.contacts, len(words.DRAFTS))
    return [
        Letter(story.me, text, (person.email,), (), (), story.now - timedelta(days=i + 1), "draft", subject)
        for i, (person, (subject, text)) in enumerate(zip(people, words.DRAFTS, strict=True))
    ]


def _place(story: Story, thread: Thread, age: float) -> None:
    rng = story.rng
    if thread.folder == "sent":
        return
    thread.unread = rng.random() < 0.75 - age and thread.letters[-1].sender != story.me
    thread.starred = rng.random() < 0.12
    if rng.random() < 0.25:
        thread.labels.add(rng.randint(1, len(words.LABELS)))
    places = ("inbox", "archive", "Projects", "trash")
    weights = (1.25 - age, 0.1 + 0.5 * age, 0.12, 0.06)
    thread.folder = rng.choices(places, weights)[0]
    if thread.folder == "inbox" and "Invoice" in thread.subject and rng.random() < 0.2:
        thread.folder = "Receipts"
    if thread.folder == "trash":
        thread.labels.clear()


def _invoice(story: Story) -> Thread:
    rng, number = story.rng, story.number()
    person = rng.choice(story.partners)
    lines = [
        (story.some(story.things), rng.randint(1, 12), rng.randrange(900, 48_000, 50)) for _ in range(rng.randint(2, 4))
    ]
    total = sum(quantity * cents for _, quantity, cents in lines)
    due = story.now + timedelta(days=rng.randint(3, 40))
    name = f"INV-{number}"
    text = (
        f"please find our invoice {name} below.\n\nInvoice: {name}\nAmount due: {money(total)}\n"
        f"Due on: {due:%Y-%m-%d}\n\nPlease give the number of the invoice when you pay."
    )
    letter = story.received(person, text)
    if rng.random() < 0.7:
        letter.files = ((f"{name}.csv", table(lines)),)
        if rng.random() < 0.5:
            shown = [f"Invoice {name}", person.company, "", *(f"{q} x {item}: {money(q * c)}" for item, q, c in lines)]
            letter.files += ((f"{name}.pdf", document([*shown, "", f"Amount due: {money(total)}"])),)
    letters = [letter]
    if rng.random() < 0.25:
        letters.append(story.received(person, f"a short reminder: our invoice {name} is still open."))
    return Thread(
        story.subject(f"Invoice {name} from {person.company}"), letters, labels={2} if rng.random() < 0.5 else set()
    )


def _order(story: Story) -> Thread:
    rng, number = story.rng, story.number() + 40_000
    person = rng.choice(story.partners)
    code = f"TR-{rng.randint(10_000, 99_999)}-{rng.choice('KLMNPX')}{rng.choice('ABCDEF')}"
    day = story.now + timedelta(days=rng.randint(2, 20))
    first = f"thank you for your order {number}: {rng.randint(2, 20)} x {story.some(story.things)}. We will write again when it is on its way."
    then = f"your order {number} has left our warehouse.\n\nTracking number: {code}\nExpected on: {day:%Y-%m-%d}"
    letters = [story.received(person, first), story.received(person, then)]
    return Thread(story.subject(f"Your order {number}"), letters)


def _question(story: Story) -> Thread:
    rng = story.rng
    subject, text = rng.choice(words.QUESTIONS)
    thing = story.some(story.things)
    told = {
        "thing": thing,
        "order": story.number() + 40_000,
        "n": rng.randint(5, 60),
        "model": f"{thing[:2].upper()}-{story.number()}",
    }
    person = rng.choice([*story.partners, *story.strangers, *story.strangers])
    letters = [story.received(person, text.format(**told))]
    if rng.random() < 0.35:
        letters.append(story.sent(story.some(words.ANSWERS), (person.email,)))
        if rng.random() < 0.6:
            letters.append(story.received(person, story.some(words.THANKS)))
    return Thread(story.subject(subject.format(**told)), letters, labels={1} if rng.random() < 0.4 else set())


def _meeting(story: Story) -> Thread:
    rng = story.rng
    person = rng.choice([*story.partners, *story.colleagues])
    topic, (day, other) = story.some(words.MEETINGS), rng.sample(words.DAYS, 2)
    time, room = story.some(words.TIMES), story.some(words.ROOMS)
    others = [each.email for each in rng.sample(story.colleagues, rng.randint(0, 2)) if each != person]
    text = f"could we meet about {topic} on {day} at {time}? I have booked the room {room}."
    letters = [story.received(person, text, cc=others)]
    if rng.random() < 0.4:
        letters.append(story.sent(f"{day} does not work for me. Could we do {other}?", (person.email,), others))
        letters.append(
            story.received(
                person,
                f"{other} at {story.some(words.TIMES)} is fine. The room is then {story.some(words.ROOMS)}.",
                cc=others,
            )
        )
    return Thread(story.subject(f"Meeting about {topic}"), letters)


def _quote(story: Story) -> Thread:
    rng, number = story.rng, story.number()
    person, thing = rng.choice(story.partners), story.some(story.things)
    pieces, cents = rng.randrange(5, 100, 5), rng.randrange(2_000, 60_000, 50)
    text = (
        f"as you asked, here is our offer Q-{number}.\n\nOffer: Q-{number}\nItem: {thing}\nPieces: {pieces}\n"
        f"Price of one: {money(cents)}\nDelivery time: {rng.randint(1, 9)} weeks"
    )
    lines = [f"Offer Q-{number}", person.company, "", f"{pieces} x {thing}, {money(cents)} each"]
    letter = story.received(person, text)
    letter.files = ((f"Q-{number}.pdf", document(lines)),)
    return Thread(story.subject(f"Offer Q-{number}: {thing}"), [letter])


def _project(story: Story) -> Thread:
    rng = story.rng
    team = rng.sample(story.colleagues, rng.randint(2, 4))
    project, day = story.some(words.PROJECTS), story.some(words.DAYS)
    everyone = [story.me.email, *(person.email for person in team)]
    letters = []
    for i in range(rng.randint(2, 5)):
        sender = team[i % len(team)] if i == 0 or rng.random() < 0.75 else story.me
        text = story.some(words.PROJECT_OPENERS if i == 0 else words.PROJECT_REPLIES).format(project=project, day=day)
        to = [address for address in everyone if address != sender.email]
        letters.append(story.sent(text, to) if sender == story.me else story.received(sender, text, to))
    if rng.random() < 0.3:
        notes = f"{project}\nOwner: {team[0].name}\nOpen points: {rng.randint(3, 19)}\nNext meeting: {day}, room {story.some(words.ROOMS)}\n"
        letters[0].files = (("notes.txt", notes.encode()),)
    return Thread(story.subject(project), letters, labels={5} if rng.random() < 0.6 else set())


def _sent(story: Story) -> Thread:
    free = [entry for entry in words.SENT if entry[0] not in story.used]
    subject, text = story.rng.choice(free)
    story.used.add(subject)
    person = story.rng.choice(story.contacts)
    return Thread(subject, [story.sent(text, (person.email,))], folder="sent")


def _newsletters(story: Story) -> list[Thread]:
    threads = []
    for name, domain, titles in words.NEWSLETTERS:
        issue = story.rng.randint(20, 300)
        for i, title in enumerate(titles[: story.rng.randint(3, 4)]):
            text = f"{title}\n\n{story.people.text(story.some(words.NEWS_BODIES))}\n\nYou get this mail because you subscribed to {name}."
            letter = Letter(Person(name, f"news@{domain}"), text, (story.me.email,))
            threads.append(Thread(f"{name}, issue {issue + i}: {title}", [letter]))
    return threads


def _spam(story: Story) -> list[Thread]:
    chosen = story.rng.sample(words.SPAM, 4)
    threads = [
        Thread(subject, [Letter(Person(name, f"hello@{domain}"), text, (story.me.email,))], "spam", unread=True)
        for subject, name, domain, text in chosen
    ]
    good = _question(story)
    good.folder, good.letters, good.labels = "spam", good.letters[:1], set()
    return [story.dated(each, story.rng.randint(600, 30_000)) for each in (*threads, good)]


def _outbox(story: Story) -> list[Thread]:
    """Two mails that the owner has just sent: they can still be taken back."""
    threads = []
    first, second = story.rng.sample(story.contacts, 2)
    for person, subject, text in (
        (first, "Figures for the report", "Here are the figures for the report: 412, 388 and 405."),
        (second, "Room for Thursday", "I have booked the room for Thursday from two to four."),
    ):
        letter = story.sent(text, (person.email,))
        letter.status = "outbox"
        threads.append(story.dated(Thread(subject, [letter], "sent"), 0))
    return threads


def _look_alikes(rng: random.Random, count: int) -> list[int]:
    """Numbers of four digits, most of which have the same digits as another, in another order."""
    found: dict[int, None] = {}
    while len(found) < count:
        number = rng.randint(1000, 9999)
        for each in (number, number // 100 * 100 + number % 10 * 10 + number // 10 % 10):
            found[each] = None
    return list(found)
