// The dialogs of a card: one that is there, and a new one.

import { useEffect, useState } from "preact/hooks";
import { drop, get, post, put } from "./api.js";
import { boot, t } from "./boot.js";
import { when } from "./days.js";
import { Avatar, Choice, Dialog, Field, Icon, Quick } from "./parts.jsx";

const nobody = () => [["", t("Nobody")], ...boot.people.map((each) => [each.id, each.name])];

const LabelPicker = ({ chosen, onTurn }) => (
  <div class="slot" role="group" aria-label={t("Labels")}>
    <span class="label">{t("Labels")}</span>
    <div class="label-line">
      {boot.labels.map((each) => (
        <button
          key={each.id} type="button" class="pill pick" style={`--c: var(--c-${each.colour})`} aria-pressed={chosen.includes(each.id)}
          data-testid={`label-${each.id}`} onClick={() => onTurn(each.id, !chosen.includes(each.id))}
        >
          {each.name}
        </button>
      ))}
    </div>
  </div>
);

// Title, description, assignee and due date, of a new card or of one that is there.
const Fields = ({ form, set }) => (
  <>
    <Field label="Title"><input type="text" value={form.title} data-testid="card-title" onInput={set("title")} /></Field>
    <Field label="Description"><textarea rows={3} value={form.description} data-testid="description" onInput={set("description")} /></Field>
    <div class="duo">
      <Field label="Assignee"><Choice id="assignee" value={form.assignee_id ?? ""} options={nobody()} onChoose={set("assignee_id")} /></Field>
      <Field label="Due date"><input type="date" value={form.due ?? ""} data-testid="due" onInput={set("due")} /></Field>
    </div>
  </>
);

const fieldsOf = (form) => ({ title: form.title, description: form.description, assignee_id: +form.assignee_id || null, due: form.due || null });

export function CardDialog({ id, tools, onClose }) {
  const [card, setCard] = useState(null);
  const [form, setForm] = useState(null);
  const [columns, setColumns] = useState([]);
  const [error, setError] = useState("");
  useEffect(() => {
    const open = async () => {
      const told = await get(`cards/${id}`);
      const board = await get(`boards/${told.board_id}`);
      setColumns(board.columns);
      setCard(told);
      setForm(told);
    };
    open().catch((wrong) => { tools.fail(wrong); onClose(); });
  }, []);
  if (!card) return null;
  const set = (name) => (event) => setForm({ ...form, [name]: event?.currentTarget ? event.currentTarget.value : event });
  // Each change is made at once; what is typed and not saved stays as it is.
  const act = async (doing, said) => {
    try {
      const told = await doing();
      setCard(told.tag ? told : await get(`cards/${id}`));
      setError("");
      tools.act(async () => ({}), said);
      return true;
    } catch (wrong) {
      setError(wrong.message);
      return false;
    }
  };
  const save = async (event) => {
    event.preventDefault();
    if (await act(() => put(`cards/${id}`, { ...fieldsOf(form), tag: card.tag }), "Card saved")) onClose();
  };
  const archive = async () => (await act(() => put(`cards/${id}/archived`, { on: !card.archived }), card.archived ? "Card restored" : "Card archived")) && onClose();
  const move = (column) => act(() => post(`cards/${id}/move`, { tag: card.tag, column_id: +column, before: 0 }), "Card moved");

  return (
    <Dialog title={card.title} onClose={onClose} id="card-dialog" wide>
      {error !== "" && <div class="error" role="alert" data-testid="error">{error}</div>}
      <div class="card-dialog">
        <form class="stack" onSubmit={save}>
          <Fields form={form} set={set} />
          <div class="end">
            <button type="button" class="button" data-testid="archive" onClick={archive}><Icon name="inbox" />{t(card.archived ? "Restore" : "Archive card")}</button>
            <span class="push" />
            <button type="button" class="button" data-testid="cancel" onClick={onClose}>{t("Cancel")}</button>
            <button class="button primary" data-testid="save">{t("Save")}</button>
          </div>
          <Talk card={card} act={act} />
        </form>
        <div class="stack">
          <Field label="Column"><Choice id="card-column" value={card.column_id} options={columns.map((each) => [each.id, each.name])} onChoose={move} /></Field>
          <LabelPicker chosen={card.labels} onTurn={(label, on) => act(() => put(`cards/${id}/labels/${label}`, { on }), "Labels saved")} />
          <Checklist card={card} act={act} />
        </div>
      </div>
    </Dialog>
  );
}

const Checklist = ({ card, act }) => (
  <div class="slot">
    <span class="label">{t("Checklist")} {card.steps > 0 && `${card.done}/${card.steps}`}</span>
    {card.items.map((each) => (
      <div class="item" key={each.id}>
        <label class="check">
          <input
            type="checkbox" checked={Boolean(each.done)} data-testid={`item-${each.id}`}
            onChange={(event) => act(() => put(`items/${each.id}`, { on: event.currentTarget.checked }), "Checklist saved")}
          />
          <span class={each.done ? "done" : ""}>{each.text}</span>
        </label>
        <button type="button" class="button quiet icon-only" data-testid={`drop-item-${each.id}`} aria-label={t("Remove {name}", { name: each.text })} onClick={() => act(() => drop(`items/${each.id}`), "Checklist saved")}><Icon name="close" /></button>
      </div>
    ))}
    <Quick label="New step" id="new-item" onTake={(text) => act(() => post(`cards/${card.id}/items`, { text }), "Checklist saved")} />
  </div>
);

const Talk = ({ card, act }) => (
  <div class="slot talk">
    <span class="label">{t("Comments")}</span>
    {card.talk.map((each) => (
      <div class="comment" key={each.id}>
        <Avatar id={each.author_id} />
        <p><b>{each.author}</b> <span class="soft">{when(each.at)}</span><br />{each.body}</p>
      </div>
    ))}
    <Quick label="Write a comment" id="new-comment" button="Send" onTake={(text) => act(() => post(`cards/${card.id}/comments`, { text }), "Comment added")} />
  </div>
);

export function NewCard({ board, column, tools, onClose }) {
  const [form, setForm] = useState({ title: "", description: "", assignee_id: "", due: "", column: column ?? board.columns[0].id });
  const [labels, setLabels] = useState([]);
  const [items, setItems] = useState([]);
  const [error, setError] = useState("");
  const set = (name) => (event) => setForm({ ...form, [name]: event?.currentTarget ? event.currentTarget.value : event });
  const save = async () => {
    try {
      await post(`columns/${form.column}/cards`, { ...fieldsOf(form), labels, items });
    } catch (wrong) {
      setError(wrong.message);
      return;
    }
    await tools.act(async () => ({}), "Card created");
    onClose();
  };
  return (
    <Dialog title={t("New card")} onClose={onClose} id="new-card-dialog" wide>
      {error !== "" && <div class="error" role="alert" data-testid="error">{error}</div>}
      <div class="card-dialog">
        <div class="stack" onKeyDown={(event) => event.key === "Enter" && event.target.matches("[data-testid=card-title]") && save()}>
          <Fields form={form} set={set} />
          <Field label="Column"><Choice id="card-column" value={form.column} options={board.columns.map((each) => [each.id, each.name])} onChoose={set("column")} /></Field>
        </div>
        <div class="stack">
          <LabelPicker chosen={labels} onTurn={(label, on) => setLabels(on ? [...labels, label] : labels.filter((each) => each !== label))} />
          <div class="slot">
            <span class="label">{t("Checklist")}</span>
            {items.map((text, i) => (
              <div class="item" key={i}>
                <span>☐ {text}</span>
                <button type="button" class="button quiet icon-only" aria-label={t("Remove {name}", { name: text })} onClick={() => setItems(items.toSpliced(i, 1))}><Icon name="close" /></button>
              </div>
            ))}
            <Quick label="New step" id="new-item" onTake={(text) => setItems([...items, text])} />
          </div>
        </div>
      </div>
      <div class="end">
        <button type="button" class="button" data-testid="cancel" onClick={onClose}>{t("Cancel")}</button>
        <button type="button" class="button primary" data-testid="save" onClick={save}>{t("Save")}</button>
      </div>
    </Dialog>
  );
}
