// The page's frame: sections, search, what was said last, and which dialog is open.

import { render } from "preact";
import { useCallback, useEffect, useState } from "preact/hooks";
import { boot, now, person, t, today } from "./boot.js";
import { get } from "./api.js";
import { Boards } from "./boards.jsx";
import { Calendar } from "./calendar.jsx";
import { CardDialog } from "./card.jsx";
import { fullDay, spanText, when } from "./days.js";
import { EventDialog, blank } from "./event.jsx";
import { FindTime } from "./find.jsx";
import { People } from "./people.jsx";
import { Settings } from "./settings.jsx";
import { Avatar, Icon } from "./parts.jsx";
import "./plan.css";

const VIEWS = { d: "day", w: "week", m: "month", a: "agenda" };
const SECTIONS = { calendar: Calendar, boards: Boards, find: FindTime, people: People, settings: Settings };

function parse(path) {
  const [section = "calendar", first, second] = path.split("/").filter(Boolean);
  if (!(section in SECTIONS)) return { section: "missing" };
  if (section === "calendar") {
    const view = Object.values(VIEWS).includes(first) ? first : "week";
    return { section, view, day: /^\d{4}-\d\d-\d\d$/.test(second ?? "") ? second : today() };
  }
  return { section, id: Number(first) || boot.boards[0].id };
}

const isTyping = (event) => event.target.closest("input, textarea, select, dialog, [role=menu]") || event.ctrlKey || event.metaKey || event.altKey;

function App() {
  const [path, setPath] = useState(location.pathname);
  const [said, setSaid] = useState(null);
  const [dialog, setDialog] = useState(null);
  const [fresh, setFresh] = useState(0);
  const [, redraw] = useState(0);
  const place = parse(path);

  const go = useCallback((to) => {
    history.pushState(null, "", to);
    setPath(to);
    setSaid(null);
  }, []);
  useEffect(() => {
    const back = () => setPath(location.pathname);
    addEventListener("popstate", back);
    return () => removeEventListener("popstate", back);
  }, []);

  const tell = (text) => setSaid({ text });
  const fail = (error) => setSaid({ text: error.message, bad: true });
  // A change: done at the server, then everything that is shown is read again.
  const act = async (doing, text) => {
    try {
      const result = await doing();
      if (result?.settings) Object.assign(boot, result);
      redraw((n) => n + 1);
      if (text) tell(t(text));
      setFresh((n) => n + 1);
      return result ?? true;
    } catch (error) {
      fail(error);
      setFresh((n) => n + 1);
      return null;
    }
  };
  const tools = { go, act, tell, fail, fresh, open: setDialog, place };

  useEffect(() => {
    const onKey = (event) => {
      if (isTyping(event) || dialog) return;
      if (event.key === "/") document.querySelector("[data-testid=search]").focus();
      else if (event.key === "n") setDialog({ kind: "event", event: blank(place.day ?? today()) });
      else if (place.section === "calendar" && VIEWS[event.key]) go(`/calendar/${VIEWS[event.key]}/${place.day}`);
      else return;
      event.preventDefault();
    };
    addEventListener("keydown", onKey);
    return () => removeEventListener("keydown", onKey);
  });

  const Section = SECTIONS[place.section] ?? Missing;
  return (
    <>
      <Side place={place} go={go} onNew={() => setDialog({ kind: "event", event: blank(place.day ?? today()) })} />
      <div class="work">
        <header class="top">
          <Search tools={tools} />
          {said && (
            <div class={said.bad ? "said bad" : "said"} role={said.bad ? "alert" : "status"} data-testid="said">
              <Icon name={said.bad ? "close" : "check"} />
              <span class="cut" title={said.text}>{said.text}</span>
            </div>
          )}
          <time class="soft">{when(now())}</time>
        </header>
        <main class={place.section}>
          <Section tools={tools} />
        </main>
      </div>
      {dialog?.kind === "event" && <EventDialog key={dialog.id ?? "new"} {...dialog} tools={tools} onClose={() => setDialog(null)} />}
      {dialog?.kind === "card" && <CardDialog key={dialog.id} {...dialog} tools={tools} onClose={() => setDialog(null)} />}
    </>
  );
}

const Missing = () => <div class="nothing"><h1>{t("There is no such page.")}</h1></div>;

function Side({ place, go, onNew }) {
  const me = person(Number(boot.settings.me));
  return (
    <aside class="side">
      <a class="brand" href="/calendar" onClick={(event) => { event.preventDefault(); go("/calendar"); }}>
        <span class="mark"><Icon name="calendar" /></span>
        Plan
      </a>
      <button type="button" class="button primary" data-testid="new-event" onClick={onNew}>
        <Icon name="plus" />
        {t("New event")}
      </button>
      <nav aria-label={t("Main")}>
        {boot.nav.map(([key, title, href, icon]) => (
          <a
            key={key}
            href={href}
            data-testid={`nav-${key}`}
            aria-current={place.section === key ? "page" : undefined}
            onClick={(event) => { event.preventDefault(); go(href); }}
          >
            <Icon name={icon} />
            {t(title)}
          </a>
        ))}
      </nav>
      <div class="me">
        <Avatar id={me.id} size="" />
        <div class="cut">
          <b class="cut">{me.name}</b>
          <span class="cut">{me.role}</span>
        </div>
      </div>
    </aside>
  );
}

function Search({ tools }) {
  const [text, setText] = useState("");
  const [hits, setHits] = useState(null);
  const find = async (event) => {
    event.preventDefault();
    if (text.trim()) setHits(await get("search", { q: text }).catch((error) => tools.fail(error)));
  };
  const close = () => setHits(null);
  const show = (what) => {
    close();
    tools.open(what);
  };
  return (
    <form class="search" role="search" onSubmit={find} onKeyDown={(event) => event.key === "Escape" && close()}>
      <Icon name="search" />
      <input
        type="text" value={text} data-testid="search" placeholder={t("Search events and cards")} aria-label={t("Search events and cards")}
        onInput={(event) => { setText(event.currentTarget.value); close(); }}
      />
      {hits && (
        <div class="popover hits" data-testid="hits">
          {hits.events.map((each) => (
            <button type="button" class="hit" key={`e${each.id}`} data-testid={`hit-event-${each.id}`} onClick={() => show({ kind: "event", id: each.id, day: each.day })}>
              <Icon name="calendar" />
              <span class="cut"><b>{each.title}</b></span>
              <span class="soft">{fullDay(each.starts)} · {spanText(each)}{each.repeat !== "none" && ` · ${t("repeats")}`}</span>
            </button>
          ))}
          {hits.cards.map((each) => (
            <button type="button" class="hit" key={`c${each.id}`} data-testid={`hit-card-${each.id}`} onClick={() => show({ kind: "card", id: each.id })}>
              <Icon name="board" />
              <span class="cut"><b>{each.title}</b></span>
              <span class="soft cut">{each.board} · {each.column_name}</span>
            </button>
          ))}
          {!hits.events.length && !hits.cards.length && <p class="soft pad">{t("Nothing was found.")}</p>}
          <button type="button" class="button quiet" data-testid="hits-close" onClick={close}>{t("Close")}</button>
        </div>
      )}
    </form>
  );
}

render(<App />, document.getElementById("app"));
