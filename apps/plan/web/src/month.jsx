// The month: six weeks of days with the first of their events.

import { colourOf, t, today } from "./boot.js";
import { weekdayText } from "./days.js";

const MOST = 3;

export function Month({ days, day: chosen, events, open, create, to }) {
  return (
    <div class="month">
      {days.slice(0, 7).map((day) => <span class="soft month-head" key={day}>{weekdayText(day)}</span>)}
      {days.map((day) => {
        const mine = events.filter((each) => each.starts.slice(0, 10) <= day && lastDay(each) >= day);
        const fits = mine.length > MOST ? MOST - 1 : MOST;
        return (
          <div
            key={day} data-testid={`cell-${day}`} class={`cell ${day.slice(0, 7) === chosen.slice(0, 7) ? "" : "other"}`}
            onClick={(event) => event.target === event.currentTarget && create(`${day} 09:00`, `${day} 10:00`)}
          >
            <button type="button" class={day === today() ? "number today" : "number"} data-testid={`number-${day}`} onClick={() => to(day, "day")}>{+day.slice(8)}</button>
            {mine.slice(0, fits).map((each) => (
              <button
                key={`${each.id}-${each.day}`} type="button" class={each.all_day ? "event-chip" : "event-chip light"} style={`--c: var(--c-${colourOf(each)})`}
                title={each.title} data-testid={`event-${each.id}-${each.day}`} onClick={() => open(each)}
              >
                {!each.all_day && <span class="soft">{each.starts.slice(11)}</span>} {each.title}
              </button>
            ))}
            {mine.length > fits && (
              <button type="button" class="more" data-testid={`more-${day}`} onClick={() => to(day, "day")}>{t("{n} more", { n: mine.length - fits })}</button>
            )}
          </div>
        );
      })}
    </div>
  );
}

// One that ends at midnight does not reach the next day.
const lastDay = (event) => (event.ends.slice(11) === "00:00" ? event.starts.slice(0, 10) : event.ends.slice(0, 10));
