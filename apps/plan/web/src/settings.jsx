// Settings of the user: time zones; and which keys do what.

import { useState } from "preact/hooks";
import { put } from "./api.js";
import { boot, t } from "./boot.js";
import { zoneText } from "./days.js";
import { Choice, Field } from "./parts.jsx";

const KEYS = [["n", "New event"], ["t", "Today"], ["d", "Day"], ["w", "Week"], ["m", "Month"], ["a", "Agenda"], ["← →", "Earlier and later"], ["/", "Search"]];

export function Settings({ tools }) {
  const [zone, setZone] = useState(boot.settings.zone);
  const [second, setSecond] = useState(boot.settings.second_zone);
  const zones = boot.zones.map((each) => [each, zoneText(each)]);
  const save = (event) => {
    event.preventDefault();
    tools.act(() => put("settings", { zone, second_zone: second }), "Settings saved");
  };
  return (
    <div class="settings-page">
      <h1>{t("Settings")}</h1>
      <form class="panel form narrow" onSubmit={save}>
        <Field label="Your time zone"><Choice id="zone" value={zone} options={zones} onChoose={setZone} /></Field>
        <Field label="Second time zone"><Choice id="second-zone" value={second} options={[["", t("None")], ...zones]} onChoose={setSecond} /></Field>
        <p class="soft">{t("The second one gets a column of its own beside the hours of the week.")}</p>
        <div class="end"><button class="button primary" data-testid="save">{t("Save")}</button></div>
      </form>
      <h2>{t("Keys")}</h2>
      <dl class="keys panel pad">
        {KEYS.map(([key, text]) => <div key={key}><dt><kbd>{key}</kbd></dt><dd>{t(text)}</dd></div>)}
      </dl>
    </div>
  );
}
