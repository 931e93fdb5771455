// Boards: columns of cards, moved by the browser's own drag and drop.

import { useEffect, useRef, useState } from "preact/hooks";
import { get, post, put } from "./api.js";
import { boot, person, t, today } from "./boot.js";
import { NewCard } from "./card.jsx";
import { dayText } from "./days.js";
import { Avatar, Choice, Dialog, Field, Icon, Menu, Quick } from "./parts.jsx";

export const label = (id) => boot.labels.find((each) => each.id === id);
const UNASSIGNED = "none";

export function Boards({ tools }) {
  const { id } = tools.place;
  const [board, setBoard] = useState(null);
  const [filter, setFilter] = useState({ label: "", who: "" });
  const [archived, setArchived] = useState(false);
  const [dialog, setDialog] = useState(null);
  useEffect(() => {
    let late = false;
    get(`boards/${id}`, { archived }).then((told) => late || setBoard(told)).catch((error) => late || tools.fail(error));
    return () => {
      late = true;
    };
  }, [id, archived, tools.fresh]);
  if (!board) return null;

  const fits = (card) =>
    (!filter.label || card.labels.includes(+filter.label)) &&
    (!filter.who || (filter.who === UNASSIGNED ? !card.assignee_id : card.assignee_id === +filter.who));
  const cards = board.cards.filter(fits);
  // A drop: shown at once, put back if the server refuses.
  const moveCard = (card, column, before) => {
    const rest = board.cards.filter((each) => each !== card);
    const at = before ? rest.findIndex((each) => each.id === before) : rest.length;
    setBoard({ ...board, cards: rest.toSpliced(at, 0, { ...card, column_id: column }) });
    tools.act(() => post(`cards/${card.id}/move`, { tag: card.tag, column_id: column, before: before ?? 0 }), "Card moved");
  };
  const moveColumn = (column, before) => {
    const rest = board.columns.filter((each) => each !== column);
    const at = before ? rest.findIndex((each) => each.id === before) : rest.length;
    setBoard({ ...board, columns: rest.toSpliced(at, 0, column) });
    tools.act(() => put(`columns/${column.id}`, { before: before ?? 0 }), "Column moved");
  };

  return (
    <div class="board-page">
      <Bar board={board} cards={cards} filter={filter} setFilter={setFilter} archived={archived} setArchived={setArchived} tools={tools} setDialog={setDialog} />
      {archived ? (
        <Archive cards={cards} tools={tools} />
      ) : (
        <Columns board={board} cards={cards} moveCard={moveCard} moveColumn={moveColumn} tools={tools} setDialog={setDialog} />
      )}
      {dialog?.kind === "column" && <ColumnDialog {...dialog} board={board} tools={tools} onClose={() => setDialog(null)} />}
      {dialog?.kind === "card" && <NewCard board={board} column={dialog.column} tools={tools} onClose={() => setDialog(null)} />}
      {dialog?.kind === "board" && <BoardDialog tools={tools} onClose={() => setDialog(null)} />}
    </div>
  );
}

function Bar({ board, cards, filter, setFilter, archived, setArchived, tools, setDialog }) {
  const labels = [["", t("All labels")], ...boot.labels.map((each) => [each.id, each.name])];
  const people = [["", t("Everybody")], [UNASSIGNED, t("Nobody")], ...boot.people.map((each) => [each.id, each.name])];
  return (
    <div class="toolbar">
      <Choice id="board" label="Board" value={board.id} options={boot.boards.map((each) => [each.id, each.name])} onChoose={(id) => tools.go(`/boards/${id}`)} />
      <Choice id="filter-label" label="Label" value={filter.label} options={labels} onChoose={(value) => setFilter({ ...filter, label: value })} />
      <Choice id="filter-who" label="Assignee" value={filter.who} options={people} onChoose={(value) => setFilter({ ...filter, who: value })} />
      <span class="soft count" data-testid="card-count">{t("{n} cards", { n: cards.length })}</span>
      <button type="button" class="button push" data-testid="archived" aria-pressed={archived} onClick={() => setArchived(!archived)}><Icon name="inbox" />{t("Archive")}</button>
      <button type="button" class="button primary" data-testid="new-card" onClick={() => setDialog({ kind: "card" })}><Icon name="plus" />{t("New card")}</button>
      <Menu
        label={t("Board")} id="board-menu"
        items={[["new-column", t("New column"), () => setDialog({ kind: "column" })], ["new-board", t("New board"), () => setDialog({ kind: "board" })]]}
      />
    </div>
  );
}

function Columns({ board, cards, moveCard, moveColumn, tools, setDialog }) {
  const held = useRef(null);
  const [over, setOver] = useState(null); // {column, before}: where it would go
  const take = (what) => (event) => {
    event.stopPropagation();
    held.current = what;
    event.dataTransfer.setData("text/plain", (what.card ?? what.column).title ?? what.column.name);
    event.dataTransfer.effectAllowed = "move";
  };
  const release = () => {
    held.current = null;
    setOver(null);
  };
  const hover = (column) => (event) => {
    if (!held.current) return;
    event.preventDefault();
    const before = held.current.card ? cardBelow(event) : columnAfter(event, column, board.columns);
    if (over?.column !== column.id || over?.before !== before) setOver({ column: column.id, before });
  };
  const let_go = (column) => (event) => {
    event.preventDefault();
    const what = held.current;
    release();
    if (what?.card) {
      const before = cardBelow(event);
      const next = nextOf(cards.filter((each) => each.column_id === column.id), what.card);
      if (before !== what.card.id && (what.card.column_id !== column.id || before !== next)) moveCard(what.card, column.id, before);
    } else if (what?.column) {
      const before = columnAfter(event, column, board.columns);
      if (before !== what.column.id && before !== nextOf(board.columns, what.column)) moveColumn(what.column, before);
    }
  };
  return (
    <div class="columns" data-testid="columns">
      {board.columns.map((column) => {
        const mine = cards.filter((each) => each.column_id === column.id);
        const held_ = board.cards.filter((each) => each.column_id === column.id).length;
        const here = over?.column === column.id;
        return (
          <section
            key={column.id} class={`column ${here && held.current?.column ? "aimed" : ""}`} data-testid={`column-${column.id}`}
            onDragOver={hover(column)} onDrop={let_go(column)} onDragEnd={release}
          >
            <header draggable data-testid={`column-head-${column.id}`} onDragStart={take({ column })}>
              <b class="cut" title={column.name}>{column.name}</b>
              <span class={`soft tally ${column.wip_limit && held_ >= column.wip_limit ? "full" : ""}`} data-testid={`tally-${column.id}`}>
                {column.wip_limit ? `${held_} / ${column.wip_limit}` : held_}
              </span>
              <Menu
                label={t("Column {name}", { name: column.name })} id={`column-menu-${column.id}`}
                items={[
                  ["column-edit", t("Edit column"), () => setDialog({ kind: "column", column })],
                  ["column-card", t("New card"), () => setDialog({ kind: "card", column: column.id })],
                  ["column-archive", t("Archive all cards"), () => tools.act(() => post(`columns/${column.id}/archive`, {}), "Cards archived")],
                ]}
              />
            </header>
            <div class="stack-of-cards">
              {mine.map((card) => (
                <Card key={card.id} card={card} tools={tools} take={take({ card })} aimed={here && held.current?.card && over.before === card.id} />
              ))}
              {here && held.current?.card && !over.before && <div class="slot-here" />}
              {!mine.length && !here && <p class="soft nobody">{t("No cards")}</p>}
            </div>
            <Quick label="Add a card" id={`quick-${column.id}`} icon="plus" onTake={(title) => tools.act(() => post(`columns/${column.id}/cards`, { title }), "Card created")} />
          </section>
        );
      })}
    </div>
  );
}

const nextOf = (list, one) => list[list.indexOf(one) + 1]?.id ?? null;

// The first card of the column whose middle is below the pointer; null at the end.
function cardBelow(event) {
  const cards = [...event.currentTarget.querySelectorAll("[data-card]")];
  const found = cards.find((each) => {
    const rect = each.getBoundingClientRect();
    return event.clientY < rect.top + rect.height / 2;
  });
  return found ? +found.dataset.card : null;
}

// The column before which one would stand: this one, or the next where the pointer is in its second half.
function columnAfter(event, column, columns) {
  const rect = event.currentTarget.getBoundingClientRect();
  const second = event.clientX > rect.left + rect.width / 2;
  return second !== (document.dir === "rtl") ? nextOf(columns, column) : column.id;
}

function Card({ card, tools, take, aimed }) {
  const open = () => tools.open({ kind: "card", id: card.id });
  return (
    <article
      class={`task ${aimed ? "aimed" : ""}`} draggable tabIndex={0} role="button" data-card={card.id} data-testid={`card-${card.id}`}
      onDragStart={take} onClick={open} onKeyDown={(event) => event.key === "Enter" && open()}
    >
      {card.labels.length > 0 && <Labels ids={card.labels} />}
      <b>{card.title}</b>
      <footer>
        {card.due && <span class={card.due < today() ? "soft late" : "soft"}>{dayText(card.due, { year: false })}</span>}
        {card.steps > 0 && <span class={`soft ${card.done === card.steps ? "all" : ""}`}>☑ {card.done}/{card.steps}</span>}
        {card.comments > 0 && <span class="soft">💬 {card.comments}</span>}
        <span class="push" />
        {card.assignee_id && <Avatar id={card.assignee_id} />}
      </footer>
    </article>
  );
}

export const Labels = ({ ids }) => (
  <div class="label-line">
    {ids.map((id) => <span class="pill" key={id} style={`--c: var(--c-${label(id).colour})`}>{label(id).name}</span>)}
  </div>
);

function Archive({ cards, tools }) {
  return (
    <div class="panel archive">
      {cards.map((card) => (
        <div class="archive-line" key={card.id}>
          <span class="cut"><b>{card.title}</b></span>
          {card.assignee_id && <span class="soft cut">{person(card.assignee_id).name}</span>}
          <button type="button" class="button push" data-testid={`restore-${card.id}`} onClick={() => tools.act(() => put(`cards/${card.id}/archived`, { on: false }), "Card restored")}><Icon name="undo" />{t("Restore")}</button>
        </div>
      ))}
      {!cards.length && <p class="soft nobody">{t("Nothing is archived.")}</p>}
    </div>
  );
}

function ColumnDialog({ board, column, tools, onClose }) {
  const [name, setName] = useState(column?.name ?? "");
  const [limit, setLimit] = useState(column?.wip_limit ?? "");
  const save = async (event) => {
    event.preventDefault();
    const done = await tools.act(
      () => (column ? put(`columns/${column.id}`, { name, wip_limit: limit === "" ? 0 : +limit }) : post(`boards/${board.id}/columns`, { name })),
      column ? "Column saved" : "Column created",
    );
    if (done) onClose();
  };
  return (
    <Dialog title={column ? t("Column {name}", { name: column.name }) : t("New column")} onClose={onClose} id="column-dialog">
      <form class="stack" onSubmit={save}>
        <Field label="Name"><input type="text" value={name} data-testid="column-name" data-focus="" onInput={(event) => setName(event.currentTarget.value)} /></Field>
        {column && <Field label="At most so many cards"><input type="number" min="0" max="99" value={limit} data-testid="column-limit" onInput={(event) => setLimit(event.currentTarget.value)} /></Field>}
        <div class="end">
          <button type="button" class="button" data-testid="cancel" onClick={onClose}>{t("Cancel")}</button>
          <button class="button primary" data-testid="save">{t("Save")}</button>
        </div>
      </form>
    </Dialog>
  );
}

function BoardDialog({ tools, onClose }) {
  const [name, setName] = useState("");
  const save = async (event) => {
    event.preventDefault();
    const made = await tools.act(async () => {
      const told = await post("boards", { name });
      Object.assign(boot, await get("session"));
      return told;
    }, "Board created");
    if (!made) return;
    onClose();
    tools.go(`/boards/${made.id}`);
  };
  return (
    <Dialog title={t("New board")} onClose={onClose} id="board-dialog">
      <form class="stack" onSubmit={save}>
        <Field label="Name"><input type="text" value={name} data-testid="board-name" data-focus="" onInput={(event) => setName(event.currentTarget.value)} /></Field>
        <div class="end">
          <button type="button" class="button" data-testid="cancel" onClick={onClose}>{t("Cancel")}</button>
          <button class="button primary" data-testid="save">{t("Save")}</button>
        </div>
      </form>
    </Dialog>
  );
}
