// What the server says at the start: settings, people, calendars, boards, texts.

export const boot = JSON.parse(document.getElementById("boot").textContent);
export const icons = Object.fromEntries(
  [...document.querySelectorAll("[data-icon]")].map((each) => [each.dataset.icon, each.innerHTML]),
);

// A text in the user's language, its {names} filled in.
export const t = (text, values = {}) =>
  (boot.texts[text] ?? text).replace(/\{(\w+)\}/g, (all, name) => (name in values ? String(values[name]) : all));

export const person = (id) => boot.people.find((each) => each.id === id);
export const calendar = (id) => boot.calendars.find((each) => each.id === id);
export const colourOf = (event) => event.colour || calendar(event.calendar_id).colour;
export const guestIds = (text) => (text ? text.split(",").map(Number) : []);
export const now = () => boot.settings.now;
export const today = () => boot.settings.now.slice(0, 10);
