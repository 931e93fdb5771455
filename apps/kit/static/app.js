"use strict";
// Menus that the page draws itself, choosing several rows, and forms that are sent once.

const items = (menu) => [...menu.querySelectorAll('[role="menuitem"]')].filter((item) => !item.hidden);

function close(menu, refocus) {
  const button = menu.querySelector("[aria-haspopup]");
  menu.querySelector(".popover").hidden = true;
  button.setAttribute("aria-expanded", "false");
  if (refocus) button.focus();
}

function open(menu) {
  document.querySelectorAll("[data-menu]").forEach((other) => other !== menu && close(other, false));
  menu.querySelector(".popover").hidden = false;
  menu.querySelector("[aria-haspopup]").setAttribute("aria-expanded", "true");
  (menu.querySelector("[data-find]") || items(menu)[0])?.focus({ focusVisible: false });
}

function onMenuKey(event, menu) {
  const shown = !menu.querySelector(".popover").hidden;
  const list = items(menu);
  const at = list.indexOf(document.activeElement);
  const to = { ArrowDown: at + 1, ArrowUp: at < 0 ? list.length - 1 : at - 1, Home: 0, End: list.length - 1 }[event.key];
  if (event.key === "Escape" && shown) close(menu, true);
  else if (event.key === "Enter" && event.target.matches("[data-find]")) list[0]?.click();
  else if (event.key === "ArrowDown" && !shown) open(menu);
  else if (to !== undefined && shown && !(event.target.matches("input") && /Home|End/.test(event.key)))
    list[(to + list.length) % list.length]?.focus({ focusVisible: true });
  else return;
  event.preventDefault();
}

function setUpPicker(menu) {
  const button = menu.querySelector("[aria-haspopup]");
  menu.querySelector("[data-find]").addEventListener("input", (event) => {
    const wanted = event.target.value.trim().toLowerCase();
    menu.querySelectorAll("[data-value]").forEach((item) => {
      item.hidden = !item.textContent.toLowerCase().includes(wanted);
    });
  });
  menu.addEventListener("click", (event) => {
    const item = event.target.closest("[data-value]");
    if (!item) return;
    menu.querySelector('input[type="hidden"]').value = item.dataset.value;
    button.querySelector(".value").textContent = item.dataset.title;
    button.setAttribute("aria-label", `${menu.querySelector(".popover").getAttribute("aria-label")}: ${item.dataset.title}`);
    close(menu, true);
  });
}

document.querySelectorAll("[data-menu]").forEach((menu) => {
  menu.querySelector("[aria-haspopup]").addEventListener("click", () =>
    menu.querySelector(".popover").hidden ? open(menu) : close(menu, false));
  menu.addEventListener("keydown", (event) => onMenuKey(event, menu));
  menu.addEventListener("focusout", (event) => {
    if (event.relatedTarget && !menu.contains(event.relatedTarget)) close(menu, false);
  });
  if ("picker" in menu.dataset) setUpPicker(menu);
});

document.addEventListener("pointerdown", (event) =>
  document.querySelectorAll("[data-menu]").forEach((menu) => menu.contains(event.target) || close(menu, false)));

const picks = [...document.querySelectorAll('input[name="id"]')];
const all = document.querySelector("[data-all]");
function count() {
  const chosen = picks.filter((pick) => pick.checked).length;
  document.querySelector("[data-count]").textContent = chosen;
  all.checked = chosen > 0 && chosen === picks.length;
}
if (all) {
  all.addEventListener("change", () => { picks.forEach((pick) => { pick.checked = all.checked; }); count(); });
  picks.forEach((pick) => pick.addEventListener("change", count));
  count();
}

document.querySelectorAll("[data-edit], [data-cancel]").forEach((button) => button.addEventListener("click", () => {
  const title = button.closest(".title");
  const form = title.querySelector(".edit");
  form.hidden = !form.hidden;
  title.querySelector(".show").hidden = !form.hidden;
  if (!form.hidden) form.querySelector("input").select();
}));

document.addEventListener("submit", (event) => {
  if (event.target.dataset.sent) event.preventDefault(); // a double click sends once
  event.target.dataset.sent = "yes";
});
window.addEventListener("pageshow", () => // a page that comes back from the history can be sent again
  document.querySelectorAll("form").forEach((form) => { delete form.dataset.sent; }));
