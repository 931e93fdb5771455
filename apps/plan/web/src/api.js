// JSON requests; what the server refuses is an Error with its words.

import { t } from "./boot.js";

async function request(method, path, body) {
  const answer = await fetch(`/api/${path}`, {
    method,
    headers: body === undefined ? {} : { "Content-Type": "application/json" },
    body: body === undefined ? undefined : JSON.stringify(body),
  }).catch(() => null);
  if (!answer) throw new Error(t("The server cannot be reached."));
  const told = await answer.json().catch(() => ({}));
  if (!answer.ok) throw new Error(told.error ?? t("The server cannot be reached."));
  return told;
}

export const get = (path, query = {}) => {
  const pairs = Object.entries(query).flatMap(([name, value]) => [value].flat().map((each) => [name, each]));
  return request("GET", pairs.length ? `${path}?${new URLSearchParams(pairs)}` : path);
};
export const post = (path, body) => request("POST", path, body);
export const put = (path, body) => request("PUT", path, body);
export const drop = (path) => request("DELETE", path);
