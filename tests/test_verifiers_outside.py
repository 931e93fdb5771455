"""Verifiers of what is beside the product's data: the page, the requests, files and mails."""

from __future__ import annotations

import json
from typing import Any
from urllib.parse import urlencode

import pytest
from hypothesis import given
from hypothesis import strategies as st

from uigym.errors import VerifierError
from uigym.types import Episode, Exchange, Node, PageView, Refusal, Row, State, Stop
from uigym.verifiers.files import created, deleted, edited
from uigym.verifiers.mail import nothing_sent, sent
from uigym.verifiers.match import any_value, mentions, regex
from uigym.verifiers.network import never_requested, nothing_refused, requested
from uigym.verifiers.page import has_node, shows, title_is
from uigym.verifiers.state import only, unchanged
from uigym.verify import Verifier

HOME = "http://127.0.0.1:8123"


def episode(**fields: Any) -> Episode:
    return Episode("e", "shop", "t", 0, {}, "Do.", (), Stop.DONE, **fields)


def holds(verify: Verifier, run: Episode) -> bool:
    verdict = verify(run)
    assert verdict.score == float(verdict.success) and bool(verdict.reason) is not verdict.success
    assert len(verdict.reason) < 1500 and verify(run) == verdict
    return verdict.success


# --- the page -----------------------------------------------------------------------------------------------------

TREE = (
    Node("heading", "Order 12", depth=1),
    Node("button", "Send"),
    Node("button", "Send again", state={"disabled": True}),
    Node("textbox", "Note", "no sugar"),
    Node("checkbox", "Gift", state={"checked": "true"}),
    Node("checkbox", "Gift", state={"checked": "false"}),
    Node("checkbox", "Fast", state={"checked": "mixed"}),
)
PAGE = PageView(f"{HOME}/orders/12", "Order 12 – Shop", "Order 12\nSent to  Ada.\nTotal: $12.50", TREE)


@pytest.mark.parametrize(
    ("verify", "success"),
    [
        (title_is("Order 12 – Shop"), True),
        (title_is("Order 12"), False),
        (title_is(regex("Order 1.*")), True),
        (shows("Sent to Ada"), True),
        (shows("Order 12", "Total: $12.50"), True),
        (shows("Order 12", "Refused"), False),
        (shows("Order 1"), False),
        (shows("rder 12"), False),
        (shows("sent to ada"), False),
        (shows("Total: $12.5"), False),
        (shows("no sugar"), False),
        (shows(regex("Total: .*")), True),
        (shows(regex("Total")), False),
        (has_node("heading", "Order 12"), True),
        (has_node("Heading"), True),
        (has_node("heading", "Order"), False),
        (has_node("button", "Send"), True),
        (has_node("button"), False),
        (has_node("button", times=2), True),
        (has_node("button", "Send again", disabled=True), True),
        (has_node("button", "Send", disabled=True), False),
        (has_node("button", "Send", disabled=False), True),
        (has_node("textbox", "Note", value="no sugar"), True),
        (has_node("textbox", "Note", value="no"), False),
        (has_node("textbox", "Note", value=mentions("sugar")), True),
        (has_node("checkbox", "Gift", checked=True), True),
        (has_node("checkbox", "Gift", checked=False), True),
        (has_node("checkbox", "Gift"), False),
        (has_node("checkbox", "Fast", checked=True), False),
        (has_node("checkbox", "Fast", checked="mixed"), True),
        (has_node("dialog", times=0), True),
        (has_node("button", times=0), False),
    ],
)
def test_page(verify: Verifier, success: bool) -> None:
    assert holds(verify, episode(page=PAGE)) is success


def test_page_reasons_say_what_and_where() -> None:
    reason = has_node("checkbox", "Fast", checked=True)(episode(page=PAGE)).reason
    assert reason == (
        f'expected 1 time(s) checkbox name="Fast" checked=true, found it 0 times at {PAGE.url}; there are: checkbox name="Gift"'
        ' checked="true"; checkbox name="Gift" checked="false"; checkbox name="Fast" checked="mixed"'
    )
    reason = shows("Refused")(episode(page=PAGE)).reason
    assert reason.startswith('expected the page to show "Refused", found \'Order 12\\nSent') and PAGE.url in reason


@pytest.mark.parametrize("verify", [title_is("x"), shows("x"), has_node("button")])
def test_a_page_that_was_not_watched_is_a_mistake_of_the_harness(verify: Verifier) -> None:
    with pytest.raises(VerifierError, match=r'did not keep its page. Write in the harness: watch=\("page",\)'):
        verify(episode())


# --- requests -----------------------------------------------------------------------------------------------------

ORDER = json.dumps({"table": 3, "lines": [{"item": "Tea"}], "note": "no sugar"})


def post(body: str = ORDER, url: str = f"{HOME}/api/orders", status: int = 201, method: str = "POST") -> Exchange:
    return Exchange(method, url, status, body, 2, "fetch")


PARTS = (
    '--x1\r\nContent-Disposition: form-data; name="table"\r\n\r\n3\r\n'
    '--x1\r\nContent-Disposition: form-data; name="note"\r\n\r\na\r\nb\r\n'
    '--x1\r\nContent-Disposition: form-data; name="file"; filename="a.csv"\r\nContent-Type: text/csv\r\n\r\nid\r\n--x1--\r\n'
)


def network(*sent: Exchange) -> Episode:
    return episode(network=(Exchange("GET", f"{HOME}/", 200), *sent), watched=("network",))


SEND = requested("post", "/api/orders", body={"table": 3, "note": mentions("sugar")})


@pytest.mark.parametrize(
    ("verify", "exchanges", "success"),
    [
        (SEND, [post()], True),
        (SEND, [post(urlencode({"table": "3", "note": "no sugar"}))], True),
        (SEND, [post(), post(ORDER.replace("3", "4"))], True),
        (SEND, [post(status=422), post()], True),
        (SEND, [], False),
        (SEND, [post(), post()], False),
        (SEND, [post(ORDER.replace("3", "4"))], False),
        (SEND, [post(ORDER.replace("sugar", "salt"))], False),
        (SEND, [post(json.dumps([ORDER]))], False),
        (SEND, [post("")], False),
        (SEND, [post(ORDER[:-5])], False),
        (SEND, [post(status=422)], False),
        (SEND, [post(status=500)], False),
        (SEND, [post(status=0)], False),
        (SEND, [post(method="PUT")], False),
        (SEND, [post(url=f"{HOME}/api/orders/9")], False),
        (SEND, [post(url=f"{HOME}/x?y=/api/orders")], False),
        (SEND, [post(url="http://127.0.0.1:9/api/orders")], False),
        (SEND, [post(url="https://127.0.0.1:8123/api/orders")], False),
        (requested("POST", "/api/orders", times=2), [post(), post()], True),
        (requested("POST", "/api/orders", times=2), [post()], False),
        (requested("POST", "/api/orders", body=ORDER), [post()], True),
        (requested("POST", "/api/orders", body="x"), [post("x ")], True),
        (requested("POST", "/api/orders", body="x"), [post("xx")], False),
        (requested("POST", "/api/orders", status=422), [post(status=422)], True),
        (requested("POST", "/api/orders", status=any_value(200, 201)), [post(status=202)], False),
        (requested("POST", "/api/orders", status=None), [post(status=0)], True),
        (requested("*", "/api/*"), [post(method="PATCH")], True),
        (requested("GET", "/search?q=tea"), [post("", f"{HOME}/search?q=tea&page=", 200, "GET")], True),
        (requested("GET", "/search?q=tea"), [post("", f"{HOME}/search?q=teas", 200, "GET")], False),
        (requested("GET", "http://cdn.test/*.js"), [post("", "http://cdn.test/a.js", 200, "GET")], True),
        (requested("GET", "http://cdn.test/*.js"), [post("", "http://cdn.test:81/a.js", 200, "GET")], False),
        (requested("GET", "http://cdn.test"), [post("", "http://cdn.test/", 200, "GET")], True),
        (requested("POST", "/api", body={"table": 3, "file": "a.csv"}), [post(PARTS, f"{HOME}/api")], True),
        (requested("POST", "/api", body={"table": 4}), [post(PARTS, f"{HOME}/api")], False),
        (requested("POST", "/api", body={"note": "a\r\nb"}), [post(PARTS, f"{HOME}/api")], True),
        (requested("POST", "/api", body={"table": 3}), [post(PARTS[:-9], f"{HOME}/api")], False),
        (requested("POST", "/api", body={"tag": ["a", "b"]}), [post("tag=a&tag=b", f"{HOME}/api")], True),
        (requested("POST", "/api", body={"tag": "a"}), [post("tag=a&tag=b", f"{HOME}/api")], False),
        (never_requested("DELETE", "**"), [post()], True),
        (never_requested("DELETE", "**"), [post(method="DELETE", status=0)], False),
        (never_requested("DELETE", "/api/orders/*"), [post(method="DELETE")], True),
        (never_requested("POST", "**", body={"table": 4}), [post()], True),
        (never_requested("POST", "**", body={"table": 3}), [post()], False),
        (never_requested("POST", "**", body={"table": 4}), [post('{"table": 4, "note": "' + "x" * 65514)], False),
        (never_requested("POST", "**", body={"table": 4}), [post("note=" + "x" * 65531)], False),
        (never_requested("POST", "**", body={"table": 4}), [post("note=" + "é" * 32765 + "\ufffd")], False),
        (never_requested("POST", "**", body={"table": 4}), [post("note=" + "x" * 60000)], True),
        (never_requested("POST", "**", body={"table": 4}), [post('{"table": 4')], False),
        (never_requested("POST", "**", body={"table": 4}), [post('[{"table": 4}]')], False),
        (never_requested("POST", "**", body={"table": 4}), [post("")], True),
        (never_requested("POST", "**", body="x"), [post("y" * 65536)], False),
        (never_requested("POST", "**", body="x"), [post("y")], True),
        (never_requested("POST", "**", body="x", status=500), [post("y" * 65536)], True),
        (never_requested("GET", "**", body="x"), [post("y" * 65536)], True),
    ],
)
def test_network(verify: Verifier, exchanges: list[Exchange], success: bool) -> None:
    assert holds(verify, network(*exchanges)) is success


def test_network_reasons_name_what_was_sent_instead() -> None:
    reason = SEND(network(post(ORDER.replace("3", "4")))).reason
    assert reason == (
        'expected 1 time(s) POST /api/orders body={"table": 3, "note": "mentions(\'sugar\')"}, found it 0 times; besides: POST'
        f" {HOME}/api/orders (201, step 2): expected body table=3, found table=4"
    )
    assert "with that method: POST" in requested("POST", "/api/order")(network(post())).reason
    assert "expected status answered well, found no answer" in SEND(network(post(status=0))).reason


@pytest.mark.parametrize("verify", [SEND, never_requested("DELETE", "**")])
def test_requests_that_were_not_watched_are_a_mistake_of_the_harness(verify: Verifier) -> None:
    with pytest.raises(VerifierError, match=r'did not keep its requests. Write in the harness: watch=\("network",\)'):
        verify(episode())
    assert verify(episode(watched=("network",))).success is (verify is not SEND)


@given(st.text(max_size=50) | st.binary(max_size=50).map(lambda raw: raw.decode(errors="replace")))
def test_no_body_breaks_the_reading(body: str) -> None:
    SEND(network(post(body)))


def test_nothing_refused() -> None:
    assert holds(nothing_refused(), episode())
    run = episode(refusals=(Refusal("http://evil.test/", "not the product's", "origin", 1),))
    assert not holds(nothing_refused(), run)
    assert nothing_refused()(run).reason.endswith("found: http://evil.test/ (not the product's)")


# --- files --------------------------------------------------------------------------------------------------------


def files(**texts: str | None) -> State:
    rows = [
        {"path": name.replace("_", "."), "size": len(text or ""), "sha256": f"hash of {text}", "text": text}
        for name, text in sorted(texts.items())
    ]
    return State({"files": tuple(rows)}, {"files": ("path",)})


@pytest.mark.parametrize(
    ("verify", "after", "success"),
    [
        (created("b.csv"), {"a_csv": "1", "b_csv": "2"}, True),
        (created("*.csv", text="2"), {"a_csv": "1", "b_csv": "2"}, True),
        (created("*.csv", text="3"), {"a_csv": "1", "b_csv": "2"}, False),
        (created("b.csv", size=1), {"a_csv": "1", "b_csv": None}, False),
        (created("b.csv"), {"a_csv": "1"}, False),
        (created("a.csv"), {"a_csv": "1"}, False),
        (created("b.csv"), {"a_csv": "1", "b_csv": "", "c_csv": ""}, False),
        (created("b.csv"), {"a_csv": "2", "b_csv": "2"}, False),
        (created("*.csv"), {"a_csv": "1", "b_txt": "2"}, False),
        (edited("a.csv"), {"a_csv": "2"}, True),
        (edited("a.csv", text="2"), {"a_csv": "2"}, True),
        (edited("a.csv", text="2"), {"a_csv": "3"}, False),
        (edited("a.csv"), {"a_csv": "1"}, False),
        (edited("a.csv"), {}, False),
        (edited("a.csv"), {"a_csv": "2", "b_csv": "2"}, False),
        (deleted("a.csv"), {}, True),
        (deleted("*"), {}, True),
        (deleted("a.csv"), {"a_csv": "1"}, False),
        (deleted("a.csv"), {"b_csv": "1"}, False),
        (deleted("b.csv"), {}, False),
    ],
)
def test_files(verify: Verifier, after: dict[str, str | None], success: bool) -> None:
    assert holds(only(verify), episode(before=files(a_csv="1"), after=files(**after))) is success


def test_a_wildcard_stays_in_its_folder() -> None:
    before, after = (
        State({"files": ()}),
        State({"files": ({"path": "out/x/a.csv", "size": 0, "sha256": "", "text": ""},)}),
    )
    assert not created("out/*.csv")(episode(before=before, after=after)).success
    assert created("out/**.csv")(episode(before=before, after=after)).success


# --- mails --------------------------------------------------------------------------------------------------------


def mail(number: int = 1, **columns: Any) -> Row:
    pdf = {"name": "invoice.pdf", "type": "application/pdf", "size": 3, "sha256": "abc"}
    return {
        "id": number,
        "sender": "shop@acme.test",
        "recipients": ["Ada@acme.test", "bob@acme.test"],
        "subject": "Order 12",
        "text": "Your order 12 is on its way.",
        "html": "",
        "attachments": [pdf],
        "raw": None,
        **columns,
    }


def mailed(*rows: Row) -> Episode:
    state = State({"mails": (), "orders": ()}, {"mails": ("id",)})
    return episode(before=state, after=State({**state.tables, "mails": rows}, state.keys))


BOTH = ["bob@acme.test", "ada@acme.test"]


@pytest.mark.parametrize(
    ("verify", "rows", "success"),
    [
        (sent(BOTH, subject="Order 12", text=mentions("order 12"), attachments=["invoice.pdf"]), [mail()], True),
        (sent(), [mail()], True),
        (sent(), [], False),
        (sent(), [mail(1), mail(2)], False),
        (sent(count=2), [mail(1), mail(2)], True),
        (sent(BOTH, count=2), [mail(1), mail(2, recipients=["bob@acme.test"])], False),
        (sent("ada@acme.test"), [mail()], False),
        (sent("ada@acme.test"), [mail(recipients=["ADA@acme.test"])], True),
        (sent("ada@acme.test"), [mail(recipients=["ada@acme.test.evil"])], False),
        (sent([*BOTH, "eve@acme.test"]), [mail()], False),
        (sent(["ada@acme.test", "ada@acme.test"]), [mail()], False),
        (sent([regex(".*@acme.test")] * 2), [mail()], True),
        (sent(subject="Order 1"), [mail()], False),
        (sent(subject="Order 12"), [mail(subject="Re: Order 12")], False),
        (sent(text=mentions("order 1")), [mail()], False),
        (sent(sender="evil@acme.test"), [mail()], False),
        (sent(attachments=[]), [mail()], False),
        (sent(attachments=[]), [mail(attachments=[])], True),
        (sent(attachments=["invoice.pdf"]), [mail(attachments=[])], False),
        (sent(attachments=["invoice.pdf", "invoice.pdf"]), [mail()], False),
        (sent(attachments=[{"name": "invoice.pdf", "sha256": "abc"}]), [mail()], True),
        (sent(attachments=[{"name": "invoice.pdf", "sha256": "abd"}]), [mail()], False),
        (sent(attachments=[{"type": "application/pdf", "size": 3}]), [mail()], True),
        (nothing_sent(), [], True),
        (nothing_sent(), [mail()], False),
    ],
)
def test_mails(verify: Verifier, rows: list[Row], success: bool) -> None:
    assert holds(verify, mailed(*rows)) is success


def test_a_mail_too_many_is_a_side_effect() -> None:
    assert only(sent(BOTH))(mailed(mail())).success
    assert only(sent(BOTH))(mailed(mail(1), mail(2, recipients=["eve@x"]))).score == 0.0
    verdict = unchanged()(mailed(mail()))
    assert not verdict.success and verdict.side_effects[0].startswith("mails id=1: added with")


def test_mail_reasons() -> None:
    verdict = sent("eve@x", subject="Order 12")(mailed(mail()))
    assert verdict.reason == (
        'expected a new row in mails with subject="Order 12" recipients=to "eve@x", found mails id=1 with'
        ' recipients=["Ada@acme.test", "bob@acme.test"]'
    )
    assert nothing_sent()(mailed(mail())).reason == "expected no mail, found mails id=1 to Ada@acme.test, bob@acme.test"


# --- mistakes -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("verify", [sent(), nothing_sent(), created("a"), edited("a"), deleted("a")])
def test_a_probe_that_is_missing_is_named(verify: Verifier) -> None:
    with pytest.raises(
        VerifierError, match=r'no table "(mails|files)" \(it has: orders\). Write in the harness: state='
    ):
        verify(episode(before=State({"orders": ()}), after=State({"orders": ()})))


@pytest.mark.parametrize(
    "build",
    [
        lambda: shows(),
        lambda: shows(" "),
        lambda: has_node("button", times=-1),
        lambda: requested("POST", "api/orders"),
        lambda: requested("POST", "/api", times=0),
        lambda: never_requested("POST", ""),
        lambda: created("a.csv", txt="x"),
        lambda: edited("a.csv", path="x"),
        lambda: sent(topic="x"),
        lambda: sent(count=0),
    ],
)
def test_mistakes_are_caught_when_written(build: Any) -> None:
    with pytest.raises((ValueError, TypeError)):
        build()
