"use strict";
// Formulas of a sheet, by the same rules as formula.py, which says what they are.

const Formula = (() => {
  const COLUMNS = 12, ROWS = 40, MAX_LENGTH = 300, MAX_DEPTH = 30, MOST = 1e12;
  const LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ".slice(0, COLUMNS);
  const TOKEN = /[ \t]*(?:(\d+(?:\.\d*)?|\.\d+)|"([^"]*)"|(\$?[A-Za-z]\$?\d{1,3})(?![A-Za-z0-9(])|([A-Za-z]+)|(<=|>=|<>|[-+*/(),:<>=%]))/y;
  const NUMBER = /^-?\$?(?:\d{1,3}(?:,\d{3})+|\d+)?(?:\.\d+)?%?$/;
  const KINDS = ["number", "text", "cell", "name", "sign"];
  const FUNCTIONS = { SUM: [1, 30], AVERAGE: [1, 30], MIN: [1, 30], MAX: [1, 30], COUNT: [1, 30], IF: [2, 3], ROUND: [1, 2] };

  class Fault {
    constructor(sign) { this.sign = sign; }
  }
  const [ERROR, REF, DIV, CYCLE, NAME, VALUE, NUM] =
    ["#ERROR!", "#REF!", "#DIV/0!", "#CYCLE!", "#NAME?", "#VALUE!", "#NUM!"].map((sign) => new Fault(sign));
  const fail = (fault) => { throw fault; };
  const upper = (text) => text.replace(/[a-z]+/g, (found) => found.toUpperCase());

  function caught(work) {
    try {
      return work();
    } catch (fault) {
      if (fault instanceof Fault) return fault;
      throw fault;
    }
  }

  function typed(raw) {
    const text = raw.trim();
    if (!text) return null;
    if (["TRUE", "FALSE"].includes(upper(text))) return upper(text) === "TRUE";
    if (NUMBER.test(text) && /[0-9]/.test(text)) {
      const number = Number(text.replace(/[$,%]/g, "")) / (text.endsWith("%") ? 100 : 1);
      return Math.abs(number) <= MOST ? number : NUM;
    }
    return raw;
  }

  function* tokens(source) {
    const text = source.trimEnd();
    let at = 0;
    while (at < text.length) {
      if (text.startsWith("#REF!", at)) {
        yield ["ref", "#REF!"];
        at += 5;
        continue;
      }
      TOKEN.lastIndex = at;
      const found = TOKEN.exec(text);
      if (!found) fail(ERROR);
      at = TOKEN.lastIndex;
      const kind = KINDS.findIndex((_, i) => found[i + 1] !== undefined);
      yield [KINDS[kind], kind === 2 || kind === 3 ? upper(found[kind + 1]) : found[kind + 1]];
    }
  }

  const cellName = (column, row) => `${LETTERS[column]}${row + 1}`;

  function place(name) {
    const found = /^([A-Z])(\d{1,3})$/.exec(name.replaceAll("$", ""));
    if (!found) return null;
    const column = LETTERS.indexOf(found[1]), row = Number(found[2]) - 1;
    return column >= 0 && row >= 0 && row < ROWS ? [column, row] : null;
  }

  class Parser {
    constructor(list) {
      this.list = list;
      this.at = 0;
      this.depth = 0;
    }

    whole() {
      const tree = this.comparison();
      return this.at < this.list.length ? fail(ERROR) : tree;
    }

    sign(...signs) {
      const next = this.list[this.at];
      if (!next || next[0] !== "sign" || !signs.includes(next[1])) return "";
      this.at += 1;
      return next[1];
    }

    comparison() {
      this.depth += 1;
      if (this.depth > MAX_DEPTH) fail(ERROR);
      let tree = this.sum(), sign;
      while ((sign = this.sign("=", "<>", "<", ">", "<=", ">="))) tree = [sign, tree, this.sum()];
      this.depth -= 1;
      return tree;
    }

    sum() { return this.chain(() => this.product(), "+", "-"); }
    product() { return this.chain(() => this.signed(), "*", "/"); }

    chain(part, ...signs) {
      let tree = part(), sign;
      while ((sign = this.sign(...signs))) tree = [sign, tree, part()];
      return tree;
    }

    signed() {
      let minus = false, sign;
      while ((sign = this.sign("-", "+"))) minus = minus !== (sign === "-");
      let tree = this.primary();
      while (this.sign("%")) tree = ["/", tree, ["number", 100]];
      return minus ? ["minus", tree] : tree;
    }

    primary() {
      if (this.sign("(")) {
        const tree = this.comparison();
        return this.sign(")") ? tree : fail(ERROR);
      }
      const next = this.list[this.at] || fail(ERROR);
      this.at += 1;
      const [kind, text] = next;
      if (kind === "number") return ["number", Number(text)];
      if (kind === "text") return ["text", text];
      if (kind === "cell") return this.cells(text);
      if (kind === "ref") return ["fault", REF];
      return kind === "name" ? this.call(text) : fail(ERROR);
    }

    cells(first) {
      let last = null;
      if (this.sign(":")) {
        const next = this.list[this.at];
        if (!next || !["cell", "ref"].includes(next[0])) fail(ERROR);
        last = next[1];
        this.at += 1;
      }
      const start = place(first), end = last === null ? start : place(last);
      if (!start || !end) return ["fault", REF];
      if (last === null) return ["cell", cellName(...start)];
      const cells = [];
      for (let row = Math.min(start[1], end[1]); row <= Math.max(start[1], end[1]); row += 1)
        for (let column = Math.min(start[0], end[0]); column <= Math.max(start[0], end[0]); column += 1)
          cells.push(cellName(column, row));
      return ["range", cells];
    }

    call(name) {
      const opened = this.sign("(");
      if (!opened) return ["TRUE", "FALSE"].includes(name) ? ["bool", name === "TRUE"] : ["fault", NAME];
      const parts = [];
      if (!this.sign(")")) {
        do parts.push(this.comparison()); while (this.sign(","));
        if (!this.sign(")")) fail(ERROR);
      }
      if (!(name in FUNCTIONS)) return ["fault", NAME];
      const [least, most] = FUNCTIONS[name];
      return parts.length >= least && parts.length <= most ? ["call", name, parts] : ["fault", ERROR];
    }
  }

  function parsed(raw) {
    const tree = caught(() => (raw.length > MAX_LENGTH ? fail(ERROR) : new Parser([...tokens(raw.slice(1))]).whole()));
    return tree instanceof Fault ? ["fault", tree] : tree;
  }

  function cellsOf(tree, found = []) {
    if (tree[0] === "cell") found.push(tree[1]);
    else if (tree[0] === "range") found.push(...tree[1]);
    else if (tree[0] === "call") tree[2].forEach((part) => cellsOf(part, found));
    else if (!["number", "text", "bool", "fault"].includes(tree[0])) tree.slice(1).forEach((part) => cellsOf(part, found));
    return found;
  }

  function evaluate(raws) {
    const trees = new Map(), values = new Map();
    for (const [cell, raw] of raws) raw.startsWith("=") ? trees.set(cell, parsed(raw)) : values.set(cell, typed(raw));
    const waiting = new Map(), users = new Map([...trees.keys()].map((cell) => [cell, []]));
    for (const [cell, tree] of trees) {
      const needs = new Set(cellsOf(tree).filter((each) => trees.has(each)));
      waiting.set(cell, needs.size);
      needs.forEach((each) => users.get(each).push(cell));
    }
    const ready = [...trees.keys()].filter((cell) => !waiting.get(cell));
    while (ready.length) {
      const cell = ready.pop();
      values.set(cell, outcome(trees.get(cell), values));
      for (const user of users.get(cell)) {
        waiting.set(user, waiting.get(user) - 1);
        if (!waiting.get(user)) ready.push(user);
      }
    }
    return new Map([...raws.keys()].map((cell) => [cell, values.has(cell) ? values.get(cell) : CYCLE]));
  }

  function outcome(tree, values) {
    const value = caught(() => valueOf(tree, values));
    return value === null ? 0 : value;
  }

  function valueOf(tree, values) {
    const kind = tree[0];
    if (kind === "number") return within(tree[1]);
    if (kind === "text" || kind === "bool") return tree[1];
    if (kind === "fault") return fail(tree[1]);
    if (kind === "cell") {
      const value = values.has(tree[1]) ? values.get(tree[1]) : null;
      return value instanceof Fault ? fail(value) : value;
    }
    if (kind === "range") return fail(VALUE);
    if (kind === "call") return call(tree[1], tree[2], values);
    if (kind === "minus") return -number(valueOf(tree[1], values));
    const left = valueOf(tree[1], values), right = valueOf(tree[2], values);
    return "+-*/".includes(kind) ? reckoned(kind, number(left), number(right)) : compared(kind, left, right);
  }

  function number(given) {
    const value = typeof given === "string" ? typed(given) : given;
    if (value instanceof Fault) fail(value);
    return typeof value === "string" ? fail(VALUE) : Number(value);
  }

  const within = (result) => (Math.abs(result) <= MOST ? result : fail(NUM));

  function reckoned(sign, left, right) {
    if (sign === "/" && right === 0) fail(DIV);
    return within(sign === "+" ? left + right : sign === "-" ? left - right : sign === "*" ? left * right : left / right);
  }

  function compared(sign, left, right) {
    const empty = { string: "", boolean: false }[typeof (left === null ? right : left)] ?? 0;
    const order = compare(rank(left === null ? empty : left), rank(right === null ? empty : right));
    return { "=": order === 0, "<>": order !== 0, "<": order < 0, ">": order > 0, "<=": order <= 0, ">=": order >= 0 }[sign];
  }

  function rank(value) {
    if (typeof value === "boolean") return [2, Number(value), ""];
    return typeof value === "string" ? [1, 0, value.replace(/[A-Z]+/g, (found) => found.toLowerCase())] : [0, value, ""];
  }

  function compare(one, two) {
    const at = one.findIndex((part, i) => part !== two[i]);
    return at < 0 ? 0 : one[at] < two[at] ? -1 : 1;
  }

  function call(name, parts, values) {
    if (name === "IF") return either(parts, values);
    if (name === "ROUND") {
      const value = number(valueOf(parts[0], values));
      const digits = parts.length > 1 ? Math.trunc(number(valueOf(parts[1], values))) : 0;
      return within(rounded(value, Math.max(-9, Math.min(9, digits))));
    }
    const numbers = numbersOf(parts, values, name === "COUNT");
    if (name === "COUNT") return numbers.length;
    if (name === "AVERAGE" && !numbers.length) fail(DIV);
    if (name === "MIN" || name === "MAX") return numbers.length ? numbers.reduce((a, b) => ((name === "MIN" ? b < a : b > a) ? b : a)) : 0;
    const total = numbers.reduce((a, b) => a + b, 0);
    return within(name === "AVERAGE" ? total / numbers.length : total);
  }

  function either(parts, values) {
    let test = valueOf(parts[0], values);
    if (typeof test === "string" && ["TRUE", "FALSE"].includes(upper(test))) test = upper(test) === "TRUE";
    if (typeof test === "boolean" ? test : number(test)) return valueOf(parts[1], values);
    return parts.length > 2 ? valueOf(parts[2], values) : false;
  }

  function numbersOf(parts, values, tolerant) {
    const found = [];
    for (const part of parts) {
      if (part[0] !== "cell" && part[0] !== "range") {
        found.push(number(valueOf(part, values)));
        continue;
      }
      for (const cell of part[0] === "range" ? part[1] : [part[1]]) {
        const value = values.get(cell);
        if (value instanceof Fault && !tolerant) fail(value);
        if (typeof value === "number") found.push(value);
      }
    }
    return found;
  }

  function rounded(value, digits) {
    const power = Number(`1e${Math.abs(digits)}`);
    const whole = Math.floor((digits >= 0 ? Math.abs(value) * power : Math.abs(value) / power) + 0.5 + 1e-9);
    const result = digits >= 0 ? whole / power : whole * power;
    return value < 0 ? -result : result;
  }

  function decimals(value, digits, whole) {
    const power = 10 ** digits, scaled = Math.floor(Math.abs(value) * power + 0.5 + 1e-9);
    const text = `${Math.floor(scaled / power)}.${String(scaled % power).padStart(digits, "0")}`;
    const short = whole ? text : text.replace(/\.?0+$/, "");
    return value < 0 && scaled ? `-${short}` : short;
  }

  function shown(value, format = "") {
    if (value === null || value === undefined || typeof value === "string") return value || "";
    if (value instanceof Fault) return value.sign;
    if (typeof value === "boolean") return value ? "TRUE" : "FALSE";
    if (format === "percent") return `${decimals(value * 100, 2, false)}%`;
    if (format === "number" || format === "money") {
      const [whole, part] = decimals(Math.abs(value), 2, true).split(".");
      const sign = value < 0 && Number(whole + part) ? "-" : "";
      return `${sign}${format === "money" ? "$" : ""}${whole.replace(/\B(?=(\d{3})+$)/g, ",")}.${part}`;
    }
    return decimals(value, Math.abs(value) < 1e9 ? 6 : 2, false);
  }

  function rewritten(raw, onCell) {
    if (!raw.startsWith("=")) return raw;
    const text = caught(() => [...tokens(raw.slice(1))].map(([kind, part]) =>
      kind === "cell" ? onCell(part) : kind === "text" ? `"${part}"` : part).join(""));
    return text instanceof Fault ? raw : `=${text}`;
  }

  const canonical = (raw) => rewritten(raw, (cell) => cell);

  const shifted = (raw, columns, rows) => rewritten(raw, (cell) => {
    const [, fixed, , frozen] = /^(\$?)([A-Z])(\$?)\d+$/.exec(cell);
    const at = place(cell);
    if (!at) return "#REF!";
    const column = fixed ? at[0] : at[0] + columns, row = frozen ? at[1] : at[1] + rows;
    if (column < 0 || column >= COLUMNS || row < 0 || row >= ROWS) return "#REF!";
    return `${fixed}${LETTERS[column]}${frozen}${row + 1}`;
  });

  return { COLUMNS, ROWS, LETTERS, cellName, place, evaluate, shown, canonical, shifted, typed };
})();
