// Everybody who can be invited or given a card.

import { useState } from "preact/hooks";
import { boot, t } from "./boot.js";
import { zoneText } from "./days.js";
import { Avatar } from "./parts.jsx";

export function People() {
  const [text, setText] = useState("");
  const shown = boot.people.filter((each) => `${each.name} ${each.role} ${each.email}`.toLowerCase().includes(text.trim().toLowerCase()));
  return (
    <div class="people-page">
      <div class="toolbar">
        <h1>{t("People")}</h1>
        <input type="text" class="find-person" value={text} placeholder={t("Find a person")} aria-label={t("Find a person")} data-testid="find-person" onInput={(event) => setText(event.currentTarget.value)} />
      </div>
      <div class="panel">
        <table class="grid">
          <thead><tr>{["Name", "Role", "Email", "Time zone"].map((each) => <th key={each}>{t(each)}</th>)}</tr></thead>
          <tbody>
            {shown.map((each) => (
              <tr key={each.id} data-testid={`person-${each.id}`}>
                <td title={each.name}><Avatar id={each.id} />{each.name}</td>
                <td>{each.role}</td>
                <td title={each.email}>{each.email}</td>
                <td>{zoneText(each.zone)}</td>
              </tr>
            ))}
            {!shown.length && <tr><td class="empty" colSpan={4}>{t("Nobody is called that.")}</td></tr>}
          </tbody>
        </table>
      </div>
    </div>
  );
}
