// The calendar: toolbar, panel, and one of four views.

import { useEffect, useRef, useState } from "preact/hooks";
import { Agenda } from "./agenda.jsx";
import { get, post, put } from "./api.js";
import { boot, calendar, t, today } from "./boot.js";
import { dayText, fullDay, monthLater, monthStart, monthText, plus, range, weekStart, zoneText } from "./days.js";
import { blank } from "./event.jsx";
import { Month } from "./month.jsx";
import { Icon, Which } from "./parts.jsx";
import { Week } from "./week.jsx";

const AGENDA_DAYS = 14;
const VIEWS = { day: "Day", week: "Week", month: "Month", agenda: "Agenda" };

function shown(view, day) {
  if (view === "day") return [day];
  if (view === "week") return range(weekStart(day), 7);
  if (view === "month") return range(weekStart(monthStart(day)), 42);
  return range(day, AGENDA_DAYS);
}

function step(view, day, by) {
  if (view === "month") return monthLater(day, by);
  return plus(day, by * { day: 1, week: 7, agenda: AGENDA_DAYS }[view]);
}

function title(view, day, days) {
  if (view === "day") return fullDay(day);
  if (view === "month") return monthText(day);
  return `${dayText(days[0], { year: false })} – ${dayText(days.at(-1))}`;
}

// What the page came with, the first time that this week is shown.
function opening(view, first) {
  const { week } = boot;
  boot.week = null;
  return view === "week" && week?.first === first ? week : { events: [], shift: 0 };
}

export function Calendar({ tools }) {
  const { view, day } = tools.place;
  const days = shown(view, day);
  const [told, setTold] = useState(() => opening(view, days[0]));
  const [asked, setAsked] = useState(null);
  const came = useRef("first" in told);
  const to = (next, as = view) => tools.go(`/calendar/${as}/${next}`);

  useEffect(() => {
    if (came.current) {
      came.current = false; // the page came with this week
      return;
    }
    let late = false;
    get("events", { first: days[0], last: days.at(-1) })
      .then((answer) => late || setTold(answer))
      .catch((error) => late || tools.fail(error));
    return () => {
      late = true;
    };
  }, [view, day, tools.fresh]);

  useEffect(() => {
    const onKey = (event) => {
      if (event.target.closest("input, textarea, select, dialog, [role=menu]") || event.ctrlKey || event.metaKey || event.altKey || document.querySelector("dialog[open]")) return;
      const ahead = boot.language === "ar" ? "ArrowLeft" : "ArrowRight";
      if (event.key === "t") to(today());
      else if (event.key === "ArrowLeft" || event.key === "ArrowRight") to(step(view, day, event.key === ahead ? 1 : -1));
      else return;
      event.preventDefault();
    };
    addEventListener("keydown", onKey);
    return () => removeEventListener("keydown", onKey);
  });

  const events = told.events.filter((each) => calendar(each.calendar_id).visible);
  // A drag: shown at once, put back if the server refuses.
  const move = (event, starts, ends) => {
    const put = (scope) => {
      setAsked(null);
      setTold({ ...told, events: told.events.map((each) => (each === event ? { ...each, starts, ends } : each)) });
      tools.act(() => post(`events/${event.id}/move`, { scope, day: event.day, tag: event.tag, starts, ends }), "Event moved");
    };
    if (event.repeat === "none") put("all");
    else setAsked({ event, put });
  };
  const open = (event) => tools.open({ kind: "event", id: event.id, day: event.day });
  const create = (starts, ends, allDay = false) => tools.open({ kind: "event", event: { ...blank(starts.slice(0, 10)), starts, ends, all_day: allDay } });
  const given = { days, day, events, shift: told.shift, move, open, create, to };

  return (
    <div class={`calendar-page panel-${boot.settings.panel}`}>
      <Panel day={day} to={to} tools={tools} />
      <section class="calendar-main">
        <div class="toolbar">
          <button type="button" class="button icon-only" data-testid="back" aria-label={t("Previous")} onClick={() => to(step(view, day, -1))}><Icon name="left" /></button>
          <button type="button" class="button" data-testid="today" onClick={() => to(today())}>{t("Today")}</button>
          <button type="button" class="button icon-only" data-testid="ahead" aria-label={t("Next")} onClick={() => to(step(view, day, 1))}><Icon name="right" /></button>
          <h1 class="cut" data-testid="range">{title(view, day, days)}</h1>
          <div class="views push" role="group" aria-label={t("View")}>
            {Object.entries(VIEWS).map(([key, text]) => (
              <button key={key} type="button" class="button" data-testid={`view-${key}`} aria-pressed={key === view} onClick={() => to(day, key)}>{t(text)}</button>
            ))}
          </div>
        </div>
        {view === "month" ? <Month {...given} /> : view === "agenda" ? <Agenda {...given} /> : <Week {...given} />}
      </section>
      {asked && <Which title={asked.event.title} onChoose={asked.put} onClose={() => { setAsked(null); setTold({ ...told }); }} />}
    </div>
  );
}

function Panel({ day, to, tools }) {
  return (
    <aside class="side-panel">
      <MiniMonth day={day} to={to} />
      <h2>{t("Calendars")}</h2>
      {boot.calendars.map((each) => (
        <label class="check calendar-name" key={each.id} style={`--c: var(--c-${each.colour})`}>
          <input
            type="checkbox" checked={Boolean(each.visible)} data-testid={`calendar-${each.id}`}
            onChange={(event) => tools.act(() => put(`calendars/${each.id}`, { visible: event.currentTarget.checked }))}
          />
          <span class="cut" title={each.name}>{each.name}</span>
          {!each.writable && <span class="soft" title={t("Read only")}><Icon name="lock" /></span>}
        </label>
      ))}
      <p class="soft zone-line">{t("Time zone")}: {zoneText(boot.settings.zone)}</p>
    </aside>
  );
}

function MiniMonth({ day, to }) {
  const [first, setFirst] = useState(monthStart(day));
  useEffect(() => setFirst(monthStart(day)), [day]);
  const days = range(weekStart(first), 42);
  return (
    <div class="mini">
      <div class="mini-head">
        <b>{monthText(first)}</b>
        <button type="button" class="button quiet icon-only push" data-testid="mini-back" aria-label={t("Previous month")} onClick={() => setFirst(monthLater(first, -1))}><Icon name="left" /></button>
        <button type="button" class="button quiet icon-only" data-testid="mini-ahead" aria-label={t("Next month")} onClick={() => setFirst(monthLater(first, 1))}><Icon name="right" /></button>
      </div>
      <div class="mini-days">
        {days.slice(0, 7).map((each) => <span class="soft" key={each}>{initial(each)}</span>)}
        {days.map((each) => (
          <button
            key={each} type="button" data-testid={`mini-${each}`} aria-label={fullDay(each)} onClick={() => to(each)}
            class={`${each.slice(0, 7) === first.slice(0, 7) ? "" : "other"} ${each === today() ? "today" : ""} ${each === day ? "chosen" : ""}`}
          >
            {+each.slice(8)}
          </button>
        ))}
      </div>
    </div>
  );
}

// One letter for a weekday; Arabic ones differ in their third, after the article.
const initial = (day) => {
  const name = boot.weekdays[(new Date(`${day}T00:00:00Z`).getUTCDay() + 6) % 7];
  return boot.language === "ar" ? name.slice(2, 3) : name.slice(0, 1);
};
