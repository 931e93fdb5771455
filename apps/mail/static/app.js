"use strict";
// The panel of search options, and the form in which a mail is written.

const advanced = document.querySelector(".advanced");
document.addEventListener("keydown", (event) => {
  if (event.key === "Escape" && advanced?.open) {
    advanced.open = false;
    advanced.querySelector("summary").focus();
  }
});
document.addEventListener("pointerdown", (event) => {
  if (advanced?.open && !advanced.contains(event.target)) advanced.open = false;
});

const letter = document.getElementById("letter");
if (letter) write(letter);

function write(form) {
  const editor = form.querySelector(".editor");
  const status = form.querySelector("[data-status]");
  const files = form.querySelector("[data-files]");
  let dirty = false;
  let last = Promise.resolve();
  let timer = 0;

  // --- saving: one request at a time, so that a mail is one draft -----------------------------------------

  function fields() {
    const data = new URLSearchParams(new FormData(form));
    data.set("body", editor.innerHTML);
    if (!form.dataset.id) files.querySelectorAll("[data-file]").forEach((file) => data.append("keep", file.dataset.file));
    return data;
  }

  async function save(anyway) {
    clearTimeout(timer);
    if (!dirty && !anyway) return;
    dirty = false;
    const fresh = !form.dataset.id;
    const answer = await fetch(fresh ? "/drafts" : `/drafts/${form.dataset.id}`, { method: "POST", body: fields() });
    if (!answer.ok) { status.textContent = form.dataset.failed; throw new Error(status.textContent); }
    const { id } = await answer.json();
    form.dataset.id = id;
    if (fresh) {
      history.replaceState(null, "", `/compose/${id}`);
      if (files.querySelector("[data-file]")) await showFiles(`/drafts/${id}/files/list`, {});
    }
    status.textContent = form.dataset.saved;
  }

  function saved(anyway = false) {
    last = last.catch(() => {}).then(() => save(anyway));
    return last;
  }

  function touched() {
    dirty = true;
    status.textContent = "";
    clearTimeout(timer);
    timer = setTimeout(() => saved().catch(() => {}), 400);
  }

  async function showFiles(url, options) {
    const answer = await fetch(url, { method: "POST", ...options });
    files.innerHTML = await answer.text();
  }

  form.addEventListener("input", (event) => { if (!event.target.closest(".tokens, .link-field, .attach")) touched(); });
  form.addEventListener("focusout", () => { if (dirty) saved().catch(() => {}); });

  async function leave(path) {
    closeTokens();
    await saved();
    location.href = path;
  }
  document.addEventListener("click", (event) => {
    const link = event.target.closest("a[href]");
    if (!link || link.closest(".editor") || event.ctrlKey || event.metaKey) return;
    event.preventDefault();
    leave(link.href);
  });

  function post(path, data = []) {
    const out = document.createElement("form");
    out.method = "post";
    out.action = path;
    for (const [name, value] of data) {
      const field = document.createElement("textarea");
      field.name = name;
      field.value = value;
      out.append(field);
    }
    out.hidden = true;
    document.body.append(out);
    out.submit();
  }

  // Sent in one request together with its last words, after a save that may be under way.
  let going = false;
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    event.stopPropagation();
    if (going) return;
    going = true;
    closeTokens();
    clearTimeout(timer);
    dirty = false;
    await last.catch(() => {});
    post(form.dataset.id ? `/drafts/${form.dataset.id}/send` : "/send", fields());
  });
  form.querySelector("[data-discard]").addEventListener("click", async () => {
    clearTimeout(timer);
    dirty = false;
    await last.catch(() => {});
    if (form.dataset.id) post(`/drafts/${form.dataset.id}/discard`);
    else location.href = "/drafts";
  });

  // --- files --------------------------------------------------------------------------------------------

  const chooser = form.querySelector('input[type="file"]');
  chooser.addEventListener("change", async () => {
    const chosen = [...chooser.files];
    chooser.value = "";
    await saved(true);
    for (const file of chosen) await showFiles(`/drafts/${form.dataset.id}/files?name=${encodeURIComponent(file.name)}`, { body: file });
  });
  files.addEventListener("click", async (event) => {
    const button = event.target.closest("[data-detach]");
    if (!button) return;
    if (!form.dataset.id) {
      button.closest("[data-file]").remove();
      touched();
      return;
    }
    await last;
    await showFiles(`/drafts/${form.dataset.id}/files/${button.dataset.detach}/remove`, {});
  });

  // --- people -------------------------------------------------------------------------------------------

  const closers = [...form.querySelectorAll("[data-people]")].map((box) => people(box, form.dataset.remove, touched));
  function closeTokens() { closers.forEach((close) => close()); }
  form.querySelectorAll("[data-show]").forEach((button) => button.addEventListener("click", () => {
    const box = form.querySelector(`[data-field="${button.dataset.show}"]`);
    box.hidden = false;
    button.hidden = true;
    box.querySelector("input").focus();
  }));

  // --- formatted text -----------------------------------------------------------------------------------

  document.execCommand("defaultParagraphSeparator", false, "p");
  document.execCommand("styleWithCSS", false, false);
  const buttons = [...form.querySelectorAll("[data-command]")];
  const linkField = form.querySelector(".link-field");
  let range = null;

  function run(command) {
    editor.focus();
    if (command === "quote") {
      const inside = getSelection().anchorNode?.parentElement?.closest("blockquote");
      document.execCommand(inside ? "outdent" : "formatBlock", false, "blockquote");
    } else if (command.endsWith("List")) withSelection(() => document.execCommand(command));
    else document.execCommand(command);
    touched();
    show();
  }
  // Chromium makes the lines anew that become entries of a list, and forgets where the selection was in them.
  function texts() {
    const walker = document.createTreeWalker(editor, NodeFilter.SHOW_TEXT);
    const found = [];
    while (walker.nextNode()) found.push(walker.currentNode);
    return found;
  }
  function withSelection(change) {
    const { anchorNode, anchorOffset, focusNode, focusOffset } = getSelection();
    const before = texts();
    const places = [[anchorNode, anchorOffset], [focusNode, focusOffset]].map(([node, offset]) => [before.indexOf(node), offset]);
    change();
    const after = texts();
    if (after.length !== before.length || places.some(([at]) => at < 0)) return;
    const [[from, start], [to, end]] = places;
    getSelection().setBaseAndExtent(after[from], start, after[to], end);
  }
  function show() {
    buttons.forEach((button) => {
      const on = button.dataset.command !== "quote" && document.queryCommandState(button.dataset.command);
      button.setAttribute("aria-pressed", on);
    });
  }
  buttons.forEach((button) => {
    button.addEventListener("pointerdown", (event) => event.preventDefault()); // the selection stays
    button.addEventListener("mousedown", (event) => event.preventDefault());
    button.addEventListener("click", () => run(button.dataset.command));
  });
  document.addEventListener("selectionchange", () => { if (editor.contains(getSelection().anchorNode)) show(); });
  editor.addEventListener("paste", (event) => {
    event.preventDefault();
    document.execCommand("insertText", false, event.clipboardData.getData("text/plain"));
  });
  editor.addEventListener("keydown", (event) => {
    if ((event.ctrlKey || event.metaKey) && event.key.toLowerCase() === "k") { event.preventDefault(); askLink(); }
    if ((event.ctrlKey || event.metaKey) && event.key === "Enter") { event.preventDefault(); form.requestSubmit(); }
  });

  function askLink() {
    const selection = getSelection();
    range = selection.rangeCount && editor.contains(selection.anchorNode) ? selection.getRangeAt(0).cloneRange() : null;
    linkField.hidden = !linkField.hidden;
    if (!linkField.hidden) linkField.querySelector("input").focus();
  }
  function setLink() {
    const input = linkField.querySelector("input");
    const address = /^[a-z]+:/i.test(input.value.trim()) ? input.value.trim() : `https://${input.value.trim()}`;
    linkField.hidden = true;
    editor.focus();
    if (range) { getSelection().removeAllRanges(); getSelection().addRange(range); }
    if (!input.value.trim()) return;
    if (getSelection().isCollapsed) document.execCommand("insertText", false, address);
    else document.execCommand("createLink", false, address);
    input.value = "";
    touched();
  }
  const linkButton = form.querySelector("[data-link]");
  linkButton.addEventListener("mousedown", (event) => event.preventDefault());
  linkButton.addEventListener("click", askLink);
  linkField.querySelector("[data-link-set]").addEventListener("click", setLink);
  linkField.querySelector("input").addEventListener("keydown", (event) => {
    if (event.key === "Enter") { event.preventDefault(); setLink(); }
    if (event.key === "Escape") { linkField.hidden = true; editor.focus(); }
  });

  if (form.dataset.id) history.replaceState(null, "", `/compose/${form.dataset.id}`); // also where sending was refused
  if (location.search.includes("reply_to")) editor.focus();
}

// A field of addresses: what was typed becomes a token at a comma, Enter, Tab, or when it is left. Returns that last.
function people(box, remove, touched) {
  const input = box.querySelector('input[type="text"]');
  const kept = box.querySelector('input[type="hidden"]');
  const list = box.querySelector(".popover");
  const known = JSON.parse(box.dataset.known);
  let tokens = kept.value ? kept.value.split(", ").map((email) => ({ name: known[email] || email, email })) : [];
  let offered = [];
  let at = 0;
  let asked = 0;

  function draw() {
    box.querySelectorAll(".token").forEach((token) => token.remove());
    tokens.forEach((token, index) => {
      const chip = document.createElement("span");
      chip.className = token.email.includes("@") ? "token" : "token wrong";
      chip.title = token.email;
      const name = document.createElement("b");
      name.textContent = token.name;
      const button = document.createElement("button");
      button.type = "button";
      button.textContent = "×";
      button.setAttribute("aria-label", `${remove} ${token.name}`);
      button.dataset.testid = `remove-${token.email}`;
      button.addEventListener("click", () => { tokens.splice(index, 1); changed(); input.focus(); });
      chip.append(name, button);
      input.before(chip);
    });
  }
  function changed() {
    kept.value = tokens.map((token) => token.email).join(", ");
    draw();
    touched();
  }
  function add(name, emails) {
    for (const email of emails) if (!tokens.some((token) => token.email === email)) tokens.push({ name: emails.length === 1 ? name : email, email });
    input.value = "";
    hide();
    changed();
  }
  function hide() {
    list.hidden = true;
    offered = [];
    asked += 1;
    input.setAttribute("aria-expanded", "false");
  }
  function take() {
    const text = input.value.trim().replace(/[,;]$/, "").trim();
    if (!text) { hide(); return; }
    const named = text.match(/<([^<>\s]+)>$/);
    const same = offered.filter((each) => each.name.toLowerCase() === text.toLowerCase());
    if (named || text.includes("@")) add(named ? named[1] : text, [(named ? named[1] : text).toLowerCase()]);
    else if (same.length === 1) add(same[0].name, same[0].emails);
    else add(text, [text.toLowerCase()]);
  }
  function offer() {
    list.replaceChildren(...offered.map((each, index) => {
      const option = document.createElement("div");
      option.setAttribute("role", "option");
      option.setAttribute("aria-selected", index === at);
      option.dataset.testid = `option-${each.emails.length === 1 ? each.emails[0] : each.name}`;
      const name = document.createElement("b");
      name.textContent = each.name;
      const address = document.createElement("span");
      address.className = "soft";
      address.textContent = each.emails.length === 1 ? each.emails[0] : `${each.emails.length}`;
      option.append(name, address);
      option.addEventListener("mousedown", (event) => { event.preventDefault(); add(each.name, each.emails); });
      return option;
    }));
    list.hidden = !offered.length;
    input.setAttribute("aria-expanded", String(!list.hidden));
  }
  input.addEventListener("input", async () => {
    if (/[,;]$/.test(input.value.trim())) { take(); return; }
    const mine = ++asked;
    const answer = await fetch(`/suggest?q=${encodeURIComponent(input.value)}`);
    const found = await answer.json();
    if (mine !== asked) return;
    offered = found.filter((each) => each.emails.some((email) => !tokens.some((token) => token.email === email)));
    at = 0;
    offer();
  });
  input.addEventListener("keydown", (event) => {
    if ((event.key === "ArrowDown" || event.key === "ArrowUp") && offered.length) {
      at = (at + (event.key === "ArrowDown" ? 1 : offered.length - 1)) % offered.length;
      offer();
    } else if (event.key === "Enter" || (event.key === "Tab" && input.value.trim())) {
      if (offered.length) add(offered[at].name, offered[at].emails);
      else if (input.value.trim()) take();
      if (event.key === "Tab") return;
    } else if (event.key === "Escape" && !list.hidden) hide();
    else if (event.key === "Backspace" && !input.value && tokens.length) { tokens.pop(); changed(); }
    else return;
    event.preventDefault();
  });
  input.addEventListener("focusout", take);
  box.addEventListener("click", (event) => { if (!event.target.closest("button")) input.focus(); });
  draw();
  return take;
}
