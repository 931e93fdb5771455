"use strict";
// Keys that work wherever nothing is being typed, files that are sent once chosen, and a field to name a view in.

const keys = document.getElementById("keys");
const go = (path) => { location.href = path; };
const focus = (selector) => document.querySelector(selector)?.focus();
const shortcuts = {
  "/": () => focus('.top [name="q"]'),
  "?": () => keys.showModal(),
  n: () => go("/tickets/new"),
  t: () => go("/tickets"),
  c: () => go("/customers"),
  r: () => focus('.composer [name="body"]'),
};

document.querySelector("[data-keys]").addEventListener("click", () => keys.showModal());
document.addEventListener("keydown", (event) => {
  const typing = event.target.closest("input, textarea, select, dialog, [role=menu]");
  if (typing || event.ctrlKey || event.altKey || event.metaKey || keys.open) return;
  const act = shortcuts[event.key.toLowerCase()];
  if (!act) return;
  event.preventDefault();
  act();
});

document.querySelectorAll("[data-autosend]").forEach((input) => input.addEventListener("change", () => {
  if (input.files.length) input.form.requestSubmit();
}));

document.querySelector('[data-testid="save-view"]')?.addEventListener("click", () => focus('[data-testid="view-name"]'));
