// What a person would say is at a point: the element that takes the click, its role, its name, and the row it is in.
([x, y]) => {
  const words = (text) => (text || "").replace(/\s+/g, " ").trim();
  let hit = document.elementFromPoint(x, y);
  while (hit && hit.shadowRoot) {
    const inner = hit.shadowRoot.elementFromPoint(x, y);
    if (!inner || inner === hit) break;
    hit = inner;
  }
  if (!hit || hit === document.documentElement || hit === document.body || hit.tagName === "IFRAME") return null;
  const actors = "a[href],button,input,select,textarea,summary,label,option,[role],[onclick],[contenteditable=''],[contenteditable=true]";
  let element = hit.closest(actors) || hit;
  if (element.tagName === "LABEL" && element.control) element = element.control;
  const type = (element.getAttribute("type") || "text").toLowerCase();
  const inputs = {
    button: "button", submit: "button", reset: "button", image: "button", checkbox: "checkbox", radio: "radio",
    range: "slider", number: "spinbutton", search: "searchbox", text: "textbox", email: "textbox", tel: "textbox", url: "textbox",
  };
  const tags = {
    A: "link", BUTTON: "button", SELECT: element.multiple || element.size > 1 ? "listbox" : "combobox", TEXTAREA: "textbox",
    OPTION: "option", H1: "heading", H2: "heading", H3: "heading", H4: "heading", IMG: "img", TD: "cell", TH: "columnheader",
    LI: "listitem", INPUT: inputs[type] || "",
  };
  const role = element.getAttribute("role") || tags[element.tagName] || "";
  const labelled = (element.getAttribute("aria-labelledby") || "").split(/\s+/).filter(Boolean)
    .map((id) => document.getElementById(id)?.textContent).join(" ");
  const labels = [...(element.labels || [])].map((label) => {
    const copy = label.cloneNode(true);
    copy.querySelectorAll("input,select,textarea,button").forEach((inner) => inner.remove());
    return copy.textContent;
  }).join(" ");
  const isField = ["INPUT", "SELECT", "TEXTAREA"].includes(element.tagName) && role !== "button";
  const own = isField ? "" : role === "button" && element.tagName === "INPUT" ? element.value : element.innerText;
  const placeholder = element.getAttribute("placeholder") || "";
  const name = words(element.getAttribute("aria-label") || words(labelled) || words(labels) || element.getAttribute("alt")
    || words(own) || element.getAttribute("title") || placeholder);
  const row = element.closest("tr,[role=row],li,[role=listitem]");
  const leaves = row ? [...row.querySelectorAll("*")].filter((leaf) => !leaf.children.length && !element.contains(leaf)) : [];
  const editable = element.isContentEditable || (element.tagName === "TEXTAREA") ||
    (element.tagName === "INPUT" && ["textbox", "searchbox", "spinbutton"].includes(role)) || type === "password";
  return { element, told: {
    role, name: name.slice(0, 200), label: words(labels), placeholder, text: words(element.innerText).slice(0, 200),
    testid: element.getAttribute("data-testid") || "", id: /^[A-Za-z][\w-]*$/.test(element.id) && !/\d{3,}/.test(element.id) ? element.id : "",
    row: row ? (row.getAttribute("role") || { TR: "row", LI: "listitem" }[row.tagName]) : "",
    leaves: [...new Set(leaves.map((leaf) => words(leaf.textContent)))].filter((t) => t && t.length <= 60).slice(0, 6),
    editable, empty: editable && !(element.value ?? element.innerText ?? "").trim(),
  } };
}
