// The agenda: two weeks as a list, in the order of columns that the settings give.

import { boot, calendar, colourOf, guestIds, person, t, today } from "./boot.js";
import { fullDay, plus, spanText } from "./days.js";

const COLUMNS = {
  time: ["Time", (each) => spanText(each)],
  title: ["Title", (each) => <b>{each.title}</b>],
  calendar: ["Calendar", (each) => <span class="dot-name" style={`--c: var(--c-${colourOf(each)})`}>{calendar(each.calendar_id).name}</span>],
  place: ["Place", (each) => each.place],
  guests: ["Guests", (each) => guestIds(each.guests).map((id) => person(id).name).join(", ")],
};

export function Agenda({ days, events, open }) {
  const columns = boot.settings.columns.split("-");
  const filled = days.map((day) => [day, events.filter((each) => touches(each, day))]).filter(([, mine]) => mine.length);
  return (
    <div class="agenda panel">
      <table class="grid">
        <thead>
          <tr>{columns.map((key) => <th key={key} class={`col-${key}`}>{t(COLUMNS[key][0])}</th>)}</tr>
        </thead>
        <tbody>
          {filled.map(([day, mine]) => [
            <tr class="day-line" key={day}><td colSpan={columns.length}>{fullDay(day)}{day === today() && ` · ${t("Today")}`}</td></tr>,
            ...mine.map((each) => (
              <tr
                key={`${day}-${each.id}`} class="pick" tabIndex={0} data-testid={`event-${each.id}-${each.day}`} onClick={() => open(each)}
                onKeyDown={(event) => event.key === "Enter" && open(each)}
              >
                {columns.map((key) => <td key={key} title={key === "guests" || key === "title" ? text(COLUMNS[key][1](each)) : undefined}>{COLUMNS[key][1](each)}</td>)}
              </tr>
            )),
          ])}
          {!filled.length && <tr><td class="empty" colSpan={columns.length}>{t("No events in these days.")}</td></tr>}
        </tbody>
      </table>
    </div>
  );
}

const text = (shown) => (typeof shown === "string" ? shown : shown.props.children);
const touches = (each, day) => each.starts.slice(0, 10) <= day && (each.all_day ? each.ends >= day : each.ends > `${day} 00:00`) && each.starts < `${plus(day, 1)}`;
