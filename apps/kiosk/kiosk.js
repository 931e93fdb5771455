// Taps become requests; the answer replaces what is inside #app. Requests run one after another, so quick taps keep their order.
const app = document.getElementById("app");
let queue = Promise.resolve();

function go(url, body, push = true) {
  queue = queue.then(() => swap(url, body, push)).catch(offline);
}

async function swap(url, body, push) {
  const answer = await fetch(url, { method: body ? "POST" : "GET", body, headers: { "X-Fragment": "1" } });
  const html = await answer.text();
  const name = nameOf(document.activeElement);
  app.innerHTML = html;
  const place = answer.headers.get("X-Url");
  if (push && place !== location.pathname + location.search) history.pushState(null, "", place);
  refocus(name);
}

function offline() {
  app.querySelector("[role=alert]")?.remove();
  app.insertAdjacentHTML("beforeend", '<p role="alert">No connection</p>');
}

function nameOf(element) {
  return element?.getAttribute("aria-label") || element?.textContent || "";
}

// The keyboard's place is kept: the field of a sheet, else the button that was pressed, if it is still there.
function refocus(name) {
  const field = app.querySelector("[autofocus]");
  const inside = app.querySelector(".sheet") || app;
  const again = [...inside.querySelectorAll("a, button")].find((element) => name && nameOf(element) === name);
  (field || again)?.focus({ preventScroll: true });
}

app.addEventListener("click", (event) => {
  const link = event.target.closest("a[href]");
  if (!link || event.button || event.ctrlKey || event.metaKey || event.shiftKey) return;
  event.preventDefault();
  go(link.getAttribute("href"));
});

app.addEventListener("submit", (event) => {
  event.preventDefault();
  const button = event.submitter;
  const body = new URLSearchParams(new FormData(event.target));
  if (button.name) body.append(button.name, button.value);
  go(button.getAttribute("formaction"), body);
});

document.addEventListener("keydown", (event) => {
  if (event.key === "Escape") app.querySelector("[data-escape]")?.click();
});

addEventListener("popstate", () => go(location.pathname + location.search, undefined, false));
