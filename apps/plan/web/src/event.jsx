// The dialog of an event: a new one, one that is there, or one of a series.

import { useEffect, useState } from "preact/hooks";
import { get, post, put } from "./api.js";
import { boot, calendar, guestIds, t } from "./boot.js";
import { fullDay, minutesFrom, moment, plus, spanText, weekday, zoneText } from "./days.js";
import { Choice, Dialog, Field, Icon, PeoplePicker, Which } from "./parts.jsx";

const REPEATS = { none: "Does not repeat", daily: "Every day", weekly: "Every week", monthly: "Every month" };
const REMINDERS = [["", "None"], [10, "10 minutes before"], [30, "30 minutes before"], [60, "1 hour before"], [1440, "1 day before"]];
const KEPT = ["calendar_id", "title", "place", "zone", "repeat", "weekdays", "until", "count", "reminder", "notes", "colour"];

export const blank = (day) => ({
  calendar_id: 1, title: "", place: "", starts: `${day} 09:00`, ends: `${day} 10:00`, all_day: false, zone: boot.settings.zone,
  repeat: "none", weekdays: "", until: null, count: null, reminder: null, notes: "", colour: "", guests: "",
});

// What the form holds of an event, and what it sends.
function formOf(event) {
  const [startDay, startTime = "09:00"] = event.starts.split(" ");
  const [endDay, endTime = "10:00"] = event.ends.split(" ");
  return {
    ...event, name: event.title, series: event.repeat !== "none", all_day: Boolean(event.all_day), startDay, startTime, endDay, endTime, guests: guestIds(event.guests),
    ends: event.until ? "until" : event.count ? "count" : "never", until: event.until ?? plus(startDay, 28), count: event.count ?? 10,
  };
}

function fieldsOf(form) {
  const repeats = form.repeat !== "none";
  return {
    ...Object.fromEntries(KEPT.map((name) => [name, form[name]])),
    starts: form.all_day ? form.startDay : `${form.startDay} ${form.startTime}`,
    ends: form.all_day ? form.endDay : `${form.endDay} ${form.endTime}`,
    all_day: form.all_day, guests: form.guests,
    weekdays: form.repeat === "weekly" ? form.weekdays : "",
    until: repeats && form.ends === "until" ? form.until || null : null,
    count: repeats && form.ends === "count" ? +form.count : null,
    reminder: form.reminder === null || form.reminder === "" ? null : +form.reminder,
  };
}

export function EventDialog({ id, day, event, tools, onClose }) {
  const [form, setForm] = useState(event ? formOf(event) : null);
  const [error, setError] = useState("");
  const [asked, setAsked] = useState(null);
  useEffect(() => {
    if (id) get(`events/${id}`, { day }).then((told) => setForm(formOf(told))).catch((wrong) => { tools.fail(wrong); onClose(); });
  }, []);
  if (!form) return null;
  const locked = Boolean(id) && !calendar(form.calendar_id).writable;

  const attempt = async (doing, said) => {
    setAsked(null);
    try {
      await doing();
    } catch (wrong) {
      setError(wrong.message);
      return;
    }
    await tools.act(async () => ({}), said);
    onClose();
  };
  const save = (submit) => {
    submit.preventDefault();
    const fields = fieldsOf(form);
    if (!id) attempt(() => post("events", fields), "Event created");
    else asking((scope) => attempt(() => put(`events/${id}`, { scope, day: form.day, tag: form.tag, fields }), "Event saved"));
  };
  const remove = () => asking((scope) => attempt(() => post(`events/${id}/delete`, { scope, day: form.day, tag: form.tag }), "Event deleted"));
  const asking = (then) => (form.series ? setAsked(() => then) : then("all"));

  return (
    <Dialog title={id ? form.name : t("New event")} onClose={onClose} id="event-dialog" wide>
      <form class="event-form" onSubmit={save} noValidate>
        {error !== "" && <div class="error" role="alert" data-testid="error">{error}</div>}
        {locked && <div class="note"><Icon name="lock" />{t("This calendar belongs to somebody else: you can only look at it.")}</div>}
        <Fields form={form} setForm={setForm} locked={locked} />
        {!form.all_day && <Conflicts form={form} id={id} />}
        <div class="end">
          {id && !locked && <button type="button" class="button danger" data-testid="delete" onClick={remove}><Icon name="trash" />{t("Delete")}</button>}
          <span class="push" />
          <button type="button" class="button" data-testid="cancel" onClick={onClose}>{t("Cancel")}</button>
          {!locked && <button class="button primary" data-testid="save">{t("Save")}</button>}
        </div>
      </form>
      {asked && <Which title={form.name} onChoose={asked} onClose={() => setAsked(null)} />}
    </Dialog>
  );
}

function Fields({ form, setForm, locked }) {
  const set = (name) => (event) => setForm({ ...form, [name]: event?.currentTarget ? event.currentTarget.value : event });
  // The end goes along with the start, so that the event stays as long.
  const start = (name) => (event) => {
    const next = { ...form, [name]: event.currentTarget.value };
    if (next.startDay && next.startTime && form.endDay && form.endTime && form.startDay && form.startTime) {
      const length = minutesFrom(form.startDay, `${form.endDay} ${form.endTime}`) - minutesFrom(form.startDay, `${form.startDay} ${form.startTime}`);
      const [endDay, endTime] = moment(next.startDay, minutesFrom(next.startDay, `${next.startDay} ${next.startTime}`) + length).split(" ");
      Object.assign(next, { endDay, endTime });
    }
    setForm(next);
  };
  const calendars = boot.calendars.filter((each) => each.writable || each.id === form.calendar_id).map((each) => [each.id, each.name]);
  return (
    <fieldset disabled={locked}>
      <input type="text" class="title-field" value={form.title} data-testid="title" placeholder={t("Title")} aria-label={t("Title")} data-focus={form.tag ? undefined : ""} onInput={set("title")} />
      <div class="moments">
        <input type="date" value={form.startDay} data-testid="start-day" aria-label={t("Start date")} onInput={start("startDay")} />
        {!form.all_day && <input type="time" value={form.startTime} data-testid="start-time" aria-label={t("Start time")} onInput={start("startTime")} />}
        <span class="soft">–</span>
        {!form.all_day && <input type="time" value={form.endTime} data-testid="end-time" aria-label={t("End time")} onInput={set("endTime")} />}
        <input type="date" value={form.endDay} data-testid="end-day" aria-label={t("End date")} onInput={set("endDay")} />
        <label class="check"><input type="checkbox" checked={form.all_day} data-testid="all-day" onChange={(event) => setForm({ ...form, all_day: event.currentTarget.checked })} />{t("All day")}</label>
      </div>
      <div class="trio">
        <Field label="Calendar"><Choice id="calendar" value={form.calendar_id} options={calendars} onChoose={(value) => setForm({ ...form, calendar_id: +value })} /></Field>
        <Field label="Place"><input type="text" value={form.place} data-testid="place" onInput={set("place")} /></Field>
        <Field label="Time zone"><Choice id="zone" value={form.zone} options={boot.zones.map((zone) => [zone, zoneText(zone)])} onChoose={set("zone")} disabled={form.all_day} /></Field>
      </div>
      <Repeat form={form} setForm={setForm} set={set} />
      <div class="trio">
        <Field label="Reminder"><Choice id="reminder" value={form.reminder ?? ""} options={REMINDERS.map(([key, text]) => [key, t(text)])} onChoose={set("reminder")} /></Field>
        <Field label="Colour"><Choice id="colour" value={form.colour} options={[["", t("As the calendar")], ...boot.colours.map((each) => [each, t(each)])]} onChoose={set("colour")} /></Field>
      </div>
      <div class="duo">
        <div class="slot"><span class="label">{t("Guests")}</span><PeoplePicker id="guest" label="Add a guest" chosen={form.guests} disabled={locked} onChange={(guests) => setForm({ ...form, guests })} /></div>
        <Field label="Notes"><textarea rows={3} value={form.notes} data-testid="notes" onInput={set("notes")} /></Field>
      </div>
    </fieldset>
  );
}

function Repeat({ form, setForm, set }) {
  const days = form.weekdays ? form.weekdays.split(",") : [boot.weekday_keys[form.startDay ? weekday(form.startDay) : 0]];
  const turn = (key) => {
    const next = days.includes(key) ? days.filter((each) => each !== key) : [...days, key];
    setForm({ ...form, weekdays: boot.weekday_keys.filter((each) => next.includes(each)).join(",") });
  };
  const order = Array.from({ length: 7 }, (_, i) => boot.weekday_keys[(i + boot.first_day) % 7]);
  return (
    <div class="trio repeat">
      <Field label="Repeat"><Choice id="repeat" value={form.repeat} options={Object.entries(REPEATS).map(([key, text]) => [key, t(text)])} onChoose={set("repeat")} /></Field>
      {form.repeat === "weekly" && (
        <div class="slot" role="group" aria-label={t("On these days")}>
          <span class="label">{t("On these days")}</span>
          <div class="weekdays">
            {order.map((key) => (
              <button key={key} type="button" aria-pressed={days.includes(key)} data-testid={`on-${key}`} onClick={() => turn(key)}>{boot.weekdays[boot.weekday_keys.indexOf(key)]}</button>
            ))}
          </div>
        </div>
      )}
      {form.repeat !== "none" && (
        <div class="slot">
          <span class="label">{t("Ends")}</span>
          <div class="row-fields">
            <Choice id="ends" label="Ends" value={form.ends} options={[["never", t("Never")], ["until", t("On a date")], ["count", t("After a number of times")]]} onChoose={set("ends")} />
            {form.ends === "until" && <input type="date" value={form.until} data-testid="until" aria-label={t("Last day")} onInput={set("until")} />}
            {form.ends === "count" && <input type="number" min="1" max="500" value={form.count} data-testid="count" aria-label={t("Number of times")} onInput={set("count")} />}
          </div>
        </div>
      )}
    </div>
  );
}

// What else the user has at that time.
function Conflicts({ form, id }) {
  const [found, setFound] = useState([]);
  const [starts, ends] = [`${form.startDay} ${form.startTime}`, `${form.endDay} ${form.endTime}`];
  const whole = starts.length === 16 && ends.length === 16 && starts < ends;
  useEffect(() => {
    let late = false;
    if (!whole) setFound([]);
    else get("conflicts", { starts, ends, zone: form.zone, but: id ?? 0 }).then((told) => late || setFound(told)).catch(() => late || setFound([]));
    return () => {
      late = true;
    };
  }, [starts, ends, form.zone]);
  if (!found.length) return null;
  return (
    <p class="conflicts" data-testid="conflicts">
      <b>{t("You already have:")}</b> {found.slice(0, 3).map((each) => `${each.title} (${fullDay(each.starts)}, ${spanText(each)})`).join("; ")}
    </p>
  );
}
