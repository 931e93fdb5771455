// Pieces that all sections share.

import { useEffect, useRef, useState } from "preact/hooks";
import { boot, icons, person, t } from "./boot.js";

export const Icon = ({ name }) => <span class="icon-box" dangerouslySetInnerHTML={{ __html: icons[name] }} />;

const hue = (name) => [...name].reduce((sum, letter, i) => sum + letter.codePointAt(0) * (i + 7), 0) % 360;
const initials = (name) => {
  const words = name.split(" ");
  return (words[0][0] + words.at(-1)[0]).toUpperCase();
};

export const Avatar = ({ id, size = "small" }) => {
  const who = person(id);
  return (
    <span class={`avatar ${size}`} style={`--hue: ${hue(who.name)}`} title={who.name} aria-hidden="true">
      {initials(who.name)}
    </span>
  );
};

export const Field = ({ label, children, class: kind = "" }) => (
  <label class={`slot ${kind}`}>
    <span class="label">{t(label)}</span>
    {children}
  </label>
);

export const Choice = ({ value, onChoose, options, id, label, disabled }) => (
  <select
    value={value}
    data-testid={id}
    aria-label={label && t(label)}
    disabled={disabled}
    onChange={(event) => onChoose(event.currentTarget.value)}
  >
    {options.map(([key, text]) => (
      <option key={key} value={key} selected={String(key) === String(value)}>
        {text}
      </option>
    ))}
  </select>
);

// A native dialog: Escape and the cross close it.
export function Dialog({ title, onClose, id, wide, children }) {
  const box = useRef(null);
  useEffect(() => {
    box.current.showModal();
    (box.current.querySelector("[data-focus]") ?? box.current).focus();
  }, []);
  return (
    <dialog
      ref={box}
      tabIndex={-1}
      class={`sheet ${wide ? "wide" : ""}`}
      data-testid={id}
      aria-label={title}
      onCancel={(event) => {
        if (event.target !== box.current) return;
        event.preventDefault();
        onClose();
      }}
    >
      <header class="sheet-head">
        <h1 title={title}>{title}</h1>
        <button type="button" class="button quiet icon-only" data-testid="close" aria-label={t("Close")} onClick={onClose}>
          <Icon name="close" />
        </button>
      </header>
      {children}
    </dialog>
  );
}

// A button that opens a list: [key, text, act]; arrows, Home, End, Escape.
export function Menu({ label, icon = "more", items, id }) {
  const [open, setOpen] = useState(false);
  const box = useRef(null);
  const list = () => [...box.current.querySelectorAll("[role=menuitem]")];
  useEffect(() => {
    if (!open) return undefined;
    list()[0]?.focus();
    const away = (event) => box.current?.contains(event.target) || setOpen(false);
    document.addEventListener("pointerdown", away);
    return () => document.removeEventListener("pointerdown", away);
  }, [open]);
  const onKey = (event) => {
    const all = list();
    const at = all.indexOf(document.activeElement);
    const to = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: all.length - 1 }[event.key];
    if (event.key === "Escape" && open) {
      setOpen(false);
      box.current.querySelector("button").focus();
    } else if (open && to !== undefined) all.at(to % all.length)?.focus();
    else return;
    event.preventDefault();
    event.stopPropagation();
  };
  return (
    <div class="menu" ref={box} onKeyDown={onKey}>
      <button
        type="button"
        class="button quiet icon-only"
        aria-haspopup="menu"
        aria-expanded={open}
        aria-label={label}
        data-testid={id}
        onClick={() => setOpen(!open)}
      >
        <Icon name={icon} />
      </button>
      {open && (
        <div class="popover to-end" role="menu" aria-label={label}>
          {items.map(([key, text, act]) => (
            <button
              key={key}
              type="button"
              role="menuitem"
              data-testid={key}
              onClick={() => {
                setOpen(false);
                act();
              }}
            >
              {text}
            </button>
          ))}
        </div>
      )}
    </div>
  );
}

// Which of a series is meant, asked before it is changed.
export const Which = ({ title, onChoose, onClose }) => (
  <Dialog title={title} onClose={onClose} id="which">
    <p class="soft">{t("This event repeats. What do you want to change?")}</p>
    <div class="end">
      <button type="button" class="button" data-testid="scope-one" onClick={() => onChoose("one")}>
        {t("Only this event")}
      </button>
      <button type="button" class="button primary" data-testid="scope-all" onClick={() => onChoose("all")}>
        {t("All events of the series")}
      </button>
    </div>
  </Dialog>
);

// A field of text that takes what is typed on Enter, and is empty again.
export function Quick({ label, onTake, id, button = "Add", icon }) {
  const [text, setText] = useState("");
  const take = (event) => {
    event.preventDefault();
    if (text.trim()) onTake(text.trim());
    setText("");
  };
  return (
    <form class="row" onSubmit={take}>
      <input type="text" value={text} placeholder={t(label)} aria-label={t(label)} data-testid={id} onInput={(event) => setText(event.currentTarget.value)} />
      <button class={icon ? "button icon-only" : "button"} data-testid={`${id}-add`} aria-label={t(button)}>{icon ? <Icon name={icon} /> : t(button)}</button>
    </form>
  );
}

// Choosing people: chips with a cross, and a field that offers who fits.
export function PeoplePicker({ chosen, onChange, label, disabled, id }) {
  const [text, setText] = useState("");
  const [open, setOpen] = useState(false);
  const box = useRef(null);
  const everyone = boot.people;
  const fits = everyone.filter((each) => !chosen.includes(each.id) && each.name.toLowerCase().includes(text.trim().toLowerCase()));
  const add = (who) => {
    onChange([...chosen, who.id]);
    setText("");
    setOpen(false);
  };
  const onKey = (event) => {
    if (event.key === "Enter") {
      event.preventDefault();
      if (open && fits.length) add(fits[0]);
    } else if (event.key === "Escape" && open) {
      event.preventDefault();
      event.stopPropagation();
      setOpen(false);
    }
  };
  return (
    <div class="picker" ref={box} onFocusOut={(event) => box.current.contains(event.relatedTarget) || setOpen(false)}>
      {chosen.length > 0 && (
        <div class="tags">
          {chosen.map((each) => (
            <span class="tag" key={each}>
              <Avatar id={each} />
              <span class="cut">{person(each).name}</span>
              {!disabled && (
                <button type="button" data-testid={`${id}-drop-${each}`} aria-label={t("Remove {name}", { name: person(each).name })} onClick={() => onChange(chosen.filter((other) => other !== each))}>
                  <Icon name="close" />
                </button>
              )}
            </span>
          ))}
        </div>
      )}
      {!disabled && (
        <input
          type="text"
          value={text}
          data-testid={id}
          placeholder={t(label)}
          aria-label={t(label)}
          role="combobox"
          aria-expanded={open}
          onFocus={() => setOpen(true)}
          onClick={() => setOpen(true)}
          onInput={(event) => {
            setText(event.currentTarget.value);
            setOpen(true);
          }}
          onKeyDown={onKey}
        />
      )}
      {open && !disabled && (
        <div class="popover offers" role="listbox" tabIndex={-1}>
          {fits.map((each) => (
            <button type="button" role="option" tabIndex={-1} key={each.id} class="offer" data-testid={`${id}-${each.id}`} onClick={() => add(each)}>
              <Avatar id={each.id} />
              <span class="cut">{each.name}</span>
            </button>
          ))}
          {!fits.length && <span class="soft offer">{t("Nobody is called that.")}</span>}
        </div>
      )}
    </div>
  );
}
