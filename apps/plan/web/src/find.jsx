// Find a time: when some people are busy on a day, and when all of them are free.

import { useEffect, useState } from "preact/hooks";
import { get } from "./api.js";
import { boot, person, t, today } from "./boot.js";
import { clock, fullDay, isolated, moment, plus } from "./days.js";
import { blank } from "./event.jsx";
import { Avatar, Choice, Field, Icon, PeoplePicker } from "./parts.jsx";

const FIRST = 8;
const LAST = 18;
const LENGTHS = [15, 30, 45, 60, 90, 120];
const HOURS = Array.from({ length: LAST - FIRST }, (_, i) => FIRST + i);

export function FindTime({ tools }) {
  const me = Number(boot.settings.me);
  const [people, setPeople] = useState([me]);
  const [day, setDay] = useState(today());
  const [minutes, setMinutes] = useState(60);
  const [told, setTold] = useState({ busy: {}, free: [] });
  useEffect(() => {
    let late = false;
    if (!people.length || !day) setTold({ busy: {}, free: [] });
    else get("free", { day, minutes, person: people }).then((answer) => late || setTold(answer)).catch((error) => late || tools.fail(error));
    return () => {
      late = true;
    };
  }, [people, day, minutes, tools.fresh]);
  const book = (start) => {
    const event = { ...blank(day), starts: moment(day, start), ends: moment(day, start + minutes), guests: people.filter((id) => id !== me).join(",") };
    tools.open({ kind: "event", event });
  };
  return (
    <div class="find-page">
      <h1>{t("Find a time")}</h1>
      <div class="panel pad find-form">
        <div class="slot"><span class="label">{t("People")}</span><PeoplePicker id="who" label="Add a person" chosen={people} onChange={setPeople} /></div>
        <Field label="Date">
          <div class="row-fields">
            <button type="button" class="button icon-only" data-testid="day-back" aria-label={t("Previous day")} onClick={() => setDay(plus(day, -1))}><Icon name="left" /></button>
            <input type="date" value={day} data-testid="find-day" aria-label={t("Date")} onInput={(event) => setDay(event.currentTarget.value)} />
            <button type="button" class="button icon-only" data-testid="day-ahead" aria-label={t("Next day")} onClick={() => setDay(plus(day, 1))}><Icon name="right" /></button>
          </div>
        </Field>
        <Field label="How long"><Choice id="minutes" value={minutes} options={LENGTHS.map((each) => [each, t("{n} minutes", { n: each })])} onChoose={(value) => setMinutes(+value)} /></Field>
      </div>
      {day && <Bars people={people} told={told} />}
      <p class="soft">{t("People are busy when they own an event or are its guest. All-day events do not count.")}</p>
      {day && <h2>{t("Everybody is free on {day} at", { day: fullDay(day) })}</h2>}
      <div class="free-times">
        {told.free.map((start) => (
          <button type="button" class="button" key={start} data-testid={`free-${clock(start)}`} onClick={() => book(start)}>{isolated(`${clock(start)}–${clock(start + minutes)}`)}</button>
        ))}
        {!told.free.length && <p class="soft">{t("There is no such time on this day.")}</p>}
      </div>
    </div>
  );
}

const Bars = ({ people, told }) => (
  <div class="panel bars">
    <div class="bar-line">
      <span />
      <div class="bar scale">{HOURS.map((hour) => <span class="soft" key={hour}>{clock(hour * 60)}</span>)}</div>
    </div>
    {people.map((id) => (
      <div class="bar-line" key={id}>
        <span class="who-name"><Avatar id={id} /><span class="cut" title={person(id).name}>{person(id).name}</span></span>
        <div class="bar">
          {HOURS.map((hour) => <i key={hour} />)}
          {(told.busy[id] ?? []).map((slot, i) => {
            const [from, to] = [Math.max(slot.starts, FIRST * 60), Math.min(slot.ends, LAST * 60)];
            const share = (minute) => `${(100 * minute) / ((LAST - FIRST) * 60)}%`;
            return to > from && <b key={i} title={`${clock(slot.starts)}–${clock(slot.ends)}`} style={`inset-inline-start: ${share(from - FIRST * 60)}; width: ${share(to - from)}`} />;
          })}
        </div>
      </div>
    ))}
  </div>
);
