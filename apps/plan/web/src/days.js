// Days are texts such as "2026-03-05", moments "2026-03-05 10:00"; the real clock is never looked at.

import { boot, t } from "./boot.js";

const DAY_MS = 86_400_000;
const stamp = (day) => Date.UTC(+day.slice(0, 4), +day.slice(5, 7) - 1, +day.slice(8, 10));
const pad = (number) => String(number).padStart(2, "0");

export const dayOf = (ms) => new Date(ms).toISOString().slice(0, 10);
export const plus = (day, count) => dayOf(stamp(day) + count * DAY_MS);
export const apart = (first, second) => Math.round((stamp(second) - stamp(first)) / DAY_MS);
export const weekday = (day) => (new Date(stamp(day)).getUTCDay() + 6) % 7; // Monday is 0
export const weekStart = (day) => plus(day, -((weekday(day) - boot.first_day + 7) % 7));
export const monthStart = (day) => `${day.slice(0, 8)}01`;
export const range = (first, count) => Array.from({ length: count }, (_, i) => plus(first, i));

export function monthLater(day, count) {
  const months = +day.slice(0, 4) * 12 + +day.slice(5, 7) - 1 + count;
  return `${Math.floor(months / 12)}-${pad((months % 12) + 1)}-01`;
}

export const clock = (minute) => `${pad(Math.floor(minute / 60))}:${pad(minute % 60)}`;
export const minuteOf = (moment) => +moment.slice(11, 13) * 60 + +moment.slice(14, 16);

// Moment of a day and minutes after its midnight, which may reach into other days.
export function moment(day, minute) {
  const days = Math.floor(minute / 1440);
  return `${plus(day, days)} ${clock(minute - days * 1440)}`;
}

export const minutesFrom = (day, at) => apart(day, at.slice(0, 10)) * 1440 + minuteOf(at);

export function dayText(day, { year = true } = {}) {
  const [y, m, d] = day.slice(0, 10).split("-").map(Number);
  const month = boot.months[m - 1];
  if (boot.language === "ko") return `${year ? `${y}년 ` : ""}${month} ${d}일`;
  return `${d}${boot.language === "de" ? "." : ""} ${month}${year ? ` ${y}` : ""}`;
}

export const weekdayText = (day) => boot.weekdays[weekday(day)];
export const fullDay = (day) => `${weekdayText(day)} ${dayText(day)}`;
export const when = (at) => `${dayText(at)}${boot.language === "ar" ? "،" : ","} ${at.slice(11)}`;

export function monthText(day) {
  const [y, m] = day.split("-").map(Number);
  return boot.language === "ko" ? `${y}년 ${boot.months[m - 1]}` : `${boot.months[m - 1]} ${y}`;
}

export const zoneText = (zone) => zone.split("/")[1].replace("_", " ");

// Runs from left to right within text that does not.
export const isolated = (text) => `\u2066${text}\u2069`;

// "10:00–11:00", with days where it is not within one.
export function spanText(event) {
  if (event.all_day) return event.starts === event.ends ? t("All day") : `${dayText(event.starts, { year: false })} – ${dayText(event.ends, { year: false })}`;
  const [first, last] = [event.starts, event.ends];
  if (first.slice(0, 10) === last.slice(0, 10)) return isolated(`${first.slice(11)}–${last.slice(11)}`);
  return `${when(first)} – ${when(last)}`;
}
