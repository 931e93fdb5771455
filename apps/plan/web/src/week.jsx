// Week and day: a grid of hours, where events are made, moved and stretched by the pointer.

import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { boot, calendar, colourOf, guestIds, now, t, today } from "./boot.js";
import { clock, isolated, minuteOf, minutesFrom, moment, plus, spanText, weekdayText, zoneText } from "./days.js";

const HOUR = boot.settings.density === "compact" ? 40 : 48; // px
const FIRST = 7; // hour at the top of the window
const SNAP = 15; // minutes
const NEAR = 4; // px: less is a click
const LINE = 14; // px, of the text of an event

const snap = (minute) => Math.round(minute / SNAP) * SNAP;
const top = (minute) => (minute * HOUR) / 60;
export const isMine = (event) => calendar(event.calendar_id).owner_id === +boot.settings.me || guestIds(event.guests).includes(+boot.settings.me);

// The parts of events that lie within a day, each with a lane of its own beside those that overlap it.
function lanes(events, day) {
  const parts = events
    .filter((each) => !each.all_day && each.starts < `${plus(day, 1)} 00:00` && each.ends > `${day} 00:00`)
    .map((event) => ({ event, from: Math.max(0, minutesFrom(day, event.starts)), to: Math.min(1440, minutesFrom(day, event.ends)) }));
  let group = [];
  let end = -1;
  const close = () => {
    const count = Math.max(0, ...group.map((each) => each.lane + 1));
    group.forEach((each) => (each.lanes = count));
    group = [];
  };
  for (const part of parts) {
    if (part.from >= end) close();
    const taken = group.filter((each) => each.to > part.from).map((each) => each.lane);
    part.lane = 0;
    while (taken.includes(part.lane)) part.lane += 1;
    group.push(part);
    end = Math.max(end, part.to);
  }
  close();
  const clashes = (part) => isMine(part.event) && parts.some((each) => each !== part && isMine(each.event) && each.from < part.to && each.to > part.from);
  return parts.map((part) => ({ ...part, clash: clashes(part) }));
}

export function Week({ days, events, shift, move, open, create, to }) {
  const box = useRef(null);
  const [drag, setDrag] = useState(null);
  useLayoutEffect(() => {
    box.current.scrollTop = FIRST * HOUR;
  }, []);
  const hands = useDrag(box, days, setDrag, { move, open, create });
  const zones = boot.settings.second_zone ? 2 : 1;
  return (
    <div class="week" style={`--days: ${days.length}; --hour: ${HOUR}px; --zones: ${zones}`}>
      <div class="week-head">
        <span class="hours-head">
          {zones === 2 && <small title={boot.settings.second_zone} class="cut">{zoneText(boot.settings.second_zone)}</small>}
          {zones === 2 && <small title={boot.settings.zone} class="cut">{zoneText(boot.settings.zone)}</small>}
        </span>
        {days.map((day) => (
          <button key={day} type="button" class={day === today() ? "day-name today" : "day-name"} data-testid={`head-${day}`} onClick={() => to(day, "day")}>
            <span>{weekdayText(day)}</span> <b>{+day.slice(8)}</b>
          </button>
        ))}
      </div>
      <AllDay days={days} events={events} open={open} create={create} />
      <div class="hours-box" ref={box} data-testid="hours">
        <Hours shift={shift} />
        {days.map((day) => (
          <div class={day === today() ? "day-column today" : "day-column"} key={day} data-testid={`day-${day}`} data-day={day} onPointerDown={hands.create}>
            {lanes(events, day).map((part) => (
              <Block key={`${part.event.id}-${part.event.day}`} part={part} day={day} hands={hands} open={open} gone={drag?.event === part.event} />
            ))}
            {drag && <Ghost drag={drag} day={day} />}
            {day === today() && <div class="now-line" style={`top: ${top(minuteOf(now()))}px`} />}
          </div>
        ))}
      </div>
    </div>
  );
}

const Hours = ({ shift }) => (
  <div class="hours">
    {Array.from({ length: 24 }, (_, hour) => (
      <div class="hour" key={hour}>
        {boot.settings.second_zone && <span class="soft other-zone">{clock((hour * 60 + shift + 1440) % 1440)}</span>}
        <span>{clock(hour * 60)}</span>
      </div>
    ))}
  </div>
);

function AllDay({ days, events, open, create }) {
  const lasting = events.filter((each) => each.all_day);
  return (
    <div class="all-day">
      <span class="soft hours-head">{t("All day")}</span>
      {days.map((day) => (
        <div class="all-day-cell" key={day} data-testid={`all-day-${day}`} onClick={(event) => event.target === event.currentTarget && create(day, day, true)}>
          {lasting.filter((each) => each.starts <= day && each.ends >= day).map((each) => (
            <button key={each.id} type="button" class="event-chip" style={`--c: var(--c-${colourOf(each)})`} title={each.title} data-testid={`event-${each.id}-${each.day}`} onClick={() => open(each)}>
              {each.title}
            </button>
          ))}
        </div>
      ))}
    </div>
  );
}

function Block({ part, day, hands, open, gone }) {
  const { event, from, to, lane, lanes: count, clash } = part;
  const height = Math.max(top(to - from) - 1, 11);
  const lines = Math.floor((height - 2) / LINE);
  const place = `top: ${top(from)}px; height: ${height}px; inset-inline-start: calc(${(100 * lane) / count}% + 1px); width: calc(${100 / count}% - 4px)`;
  const last = event.ends <= `${plus(day, 1)} 00:00`;
  return (
    <div
      class={`block ${gone ? "gone" : ""} ${height < 20 ? "tiny" : ""} ${lines < 3 || count > 1 ? "short" : ""} ${calendar(event.calendar_id).writable ? "" : "locked"}`}
      style={`${place}; --c: var(--c-${colourOf(event)})`}
      role="button" tabIndex={0} data-testid={`event-${event.id}-${event.day}`} title={`${event.title}\n${spanText(event)}${event.place && `\n${event.place}`}`}
      onPointerDown={(at) => hands.move(at, event, day)}
      onKeyDown={(key) => (key.key === "Enter" || key.key === " ") && (key.preventDefault(), open(event))}
    >
      <b>{clash && <span class="clash" title={t("At the same time as another of your events")}>!</span>}{event.title}</b>
      {lines > 1 && <span>{spanText(event)}</span>}
      {lines > 3 && event.place && <span>{event.place}</span>}
      {last && <span class="handle" data-testid={`resize-${event.id}-${event.day}`} onPointerDown={(at) => hands.stretch(at, event, day)} />}
    </div>
  );
}

function Ghost({ drag, day }) {
  const from = Math.max(0, minutesFrom(day, drag.starts));
  const to = Math.min(1440, minutesFrom(day, drag.ends));
  if (from >= to || from >= 1440 || to <= 0) return null;
  const colour = drag.event ? colourOf(drag.event) : calendar(1).colour;
  return (
    <div class="block ghost" style={`top: ${top(from)}px; height: ${top(to - from) - 1}px; inset-inline-start: 1px; width: calc(100% - 4px); --c: var(--c-${colour})`}>
      <b>{drag.event?.title ?? t("New event")}</b>
      <span>{isolated(`${drag.starts.slice(11)}–${drag.ends.slice(11)}`)}</span>
    </div>
  );
}

// Pointer drags over the grid. Each gesture tells, from where the pointer is, what the event would be.
function useDrag(box, days, setDrag, { move, open, create }) {
  const ending = useRef(null);
  useEffect(() => () => ending.current?.(), []);

  // Minutes from the midnight of the first day at a point of the window.
  const at = (event) => {
    const columns = [...box.current.querySelectorAll("[data-day]")];
    const rects = columns.map((each) => each.getBoundingClientRect());
    const index = rects.findIndex((rect) => event.clientX >= rect.left && event.clientX < rect.right);
    const nearest = index >= 0 ? index : Math.abs(event.clientX - rects[0].left) < Math.abs(event.clientX - rects.at(-1).left) ? 0 : rects.length - 1;
    const minute = Math.min(1439, Math.max(0, ((event.clientY - rects[0].top) * 60) / HOUR));
    return nearest * 1440 + minute;
  };

  const begin = (down, tell, done, click) => {
    if (down.button !== 0) return;
    down.preventDefault();
    down.stopPropagation();
    const from = at(down);
    let last = null;
    const moved = (event) => {
      if (!last && Math.hypot(event.clientX - down.clientX, event.clientY - down.clientY) < NEAR) return;
      last = tell(from, at(event));
      setDrag(last);
    };
    const end = () => {
      removeEventListener("pointermove", moved);
      removeEventListener("pointerup", up);
      removeEventListener("pointercancel", end);
      removeEventListener("keydown", escape, true);
      ending.current = null;
      setDrag(null);
    };
    const up = (event) => {
      if (last) moved(event);
      end();
      if (last) done(last);
      else click(from);
    };
    const escape = (event) => event.key === "Escape" && end();
    ending.current = end;
    addEventListener("pointermove", moved);
    addEventListener("pointerup", up);
    addEventListener("pointercancel", end);
    addEventListener("keydown", escape, true);
  };

  const span = (first, last) => ({ starts: moment(days[0], first), ends: moment(days[0], last) });
  return {
    create: (down) =>
      begin(
        down,
        (from, to) => {
          const day = Math.floor(from / 1440) * 1440;
          const [first, last] = [from, day + (to % 1440)].sort((one, other) => one - other).map(snap);
          return span(first, Math.max(last, first + SNAP));
        },
        ({ starts, ends }) => create(starts, ends),
        (from) => create(...Object.values(span(Math.floor(from / 30) * 30, Math.floor(from / 30) * 30 + 60))),
      ),
    move: (down, event) =>
      begin(
        down,
        (from, to) => {
          const by = snap((to % 1440) - (from % 1440)) + (Math.floor(to / 1440) - Math.floor(from / 1440)) * 1440;
          const first = minutesFrom(days[0], event.starts) + by;
          return { event, ...span(first, first + minutesFrom(days[0], event.ends) - minutesFrom(days[0], event.starts)) };
        },
        ({ starts, ends }) => starts !== event.starts && move(event, starts, ends),
        () => open(event),
      ),
    stretch: (down, event) =>
      begin(
        down,
        (from, to) => {
          const first = minutesFrom(days[0], event.starts);
          const last = minutesFrom(days[0], event.ends) + snap((to % 1440) - (from % 1440));
          return { event, ...span(first, Math.max(last, first + SNAP)) };
        },
        ({ starts, ends }) => ends !== event.ends && move(event, starts, ends),
        () => open(event),
      ),
  };
}

