"use strict";
// The table of findings. Whatever a model wrote reaches the page as text (textContent), never as markup.
(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const MISSING = "–";
  const PER_PAGE = 50;
  const filters = document.getElementById("filters");
  const search = document.getElementById("search");
  const selects = [...filters.querySelectorAll("select")];
  const hasCandidates = selects.some((select) => select.dataset.field === "candidate"); // of one pair all are alike
  let page = 0;

  const shown = (value) => (value === null || value === undefined || value === "" ? MISSING : String(value));

  function make(tag, className, ...children) {
    const element = document.createElement(tag);
    if (className) element.className = className;
    for (const child of children) {
      if (child !== null && child !== undefined) element.append(child); // strings become text nodes
    }
    return element;
  }

  function table(header, rows, numeric) {
    const cell = (tag) => (value, column) => make(tag, numeric.includes(column) ? "number" : "", shown(value));
    const head = make("thead", "", make("tr", "", ...header.map(cell("th"))));
    const body = make("tbody", "", ...rows.map((row) => make("tr", "", ...row.map(cell("td")))));
    return make("div", "scroll", make("table", "tries", head, body));
  }

  const texts = new Map(); // what is searched of each row, made once

  function searched(row) {
    if (!texts.has(row)) {
      const outputs = (row.sides || []).flatMap((side) => [side.before, side.after]);
      texts.set(row, [row.id, row.message, row.code, row.prompt, ...outputs].join("\n").toLowerCase());
    }
    return texts.get(row);
  }

  function matching() {
    const words = search.value.trim().toLowerCase();
    return data.rows.filter(
      (row) =>
        selects.every((select) => select.value === "" || shown(row[select.dataset.field]) === select.value) &&
        (words === "" || searched(row).includes(words)),
    );
  }

  function fill(select) {
    const counts = new Map();
    for (const row of data.rows) {
      const value = shown(row[select.dataset.field]);
      counts.set(value, (counts.get(value) || 0) + 1);
    }
    select.append(new Option("all", ""));
    for (const [value, count] of [...counts].sort((one, two) => two[1] - one[1])) {
      select.append(new Option(`${value} (${count})`, value));
    }
  }

  function summaryOf(row) {
    return make(
      "summary",
      "",
      make("span", "mono", row.id),
      make("span", "hide", row.category),
      hasCandidates ? make("span", "", row.candidate) : null,
      make("span", `what ${row.tone}`, row.what),
      make("span", "", [row.cause, row.code].filter(Boolean).join(" · ") || MISSING),
      make("span", "number hide", row.tokens),
      make("span", "number hide", shown(row.again)),
    );
  }

  function header() {
    const names = ["", "sample", "category", ...(hasCandidates ? ["candidate"] : []), "what", "cause · code"];
    const numbers = ["tokens", "again"].map((name) => make("span", "number", name));
    return make("div", "head", ...names.map((name) => make("span", "", name)), ...numbers);
  }

  function output(side, row) {
    if (side.before === null) return make("p", "quiet", "no answer");
    if (side.before === "" && !side.after) return make("p", "quiet", "an empty answer");
    const text = make("pre", "");
    if (side.after === null) {
      text.append(side.before);
    } else {
      text.append(make("span", "shared", side.before));
      const [first] = side.after; // a whole character, even outside the basic plane
      const mark = make("mark", "", first === undefined ? "∎" : first === "\n" ? "⏎\n" : first);
      mark.title = `first difference, character ${row.difference}`;
      text.append(mark, first === undefined ? "" : side.after.slice(first.length));
    }
    return text;
  }

  function repeat(side) {
    if (side.body === null || side.body === undefined) return null;
    const parts = [];
    for (const [name, frame] of [["curl", data.arms[side.arm].curl], ["Python", data.arms[side.arm].python]]) {
      const details = make("details", "", make("summary", "", `ask it again with ${name}`));
      details.addEventListener("toggle", () => {
        if (details.open && details.childElementCount === 1) {
          const script = frame[0] + data.bodies[side.body] + frame[1];
          if (navigator.clipboard) {
            const copy = make("button", "", "copy");
            copy.type = "button";
            copy.addEventListener("click", () => navigator.clipboard.writeText(script));
            details.append(copy);
          }
          details.append(make("pre", "", script));
        }
      });
      parts.push(details);
    }
    return make("div", "", ...parts);
  }

  function sideOf(side, row) {
    const attempts = side.tries.map((one) => [
      one.stage,
      one.budget,
      one.tokens,
      one.error === null ? one.ending : one.error,
      one.finish,
      [one.grade, one.code].filter(Boolean).join(": "),
      one.accepted,
      one.seconds,
    ]);
    const names = ["stage", "budget", "tokens", "ending", "finish_reason", "grade", "accepted", "seconds"];
    return make(
      "div",
      "side",
      make("h3", "", `${side.arm} `, make("span", "quiet", `at ${row.budget} tokens`)),
      output(side, row),
      ...(side.calls.length ? side.calls.map((call) => make("p", "mono", `call ${call}`)) : [make("p", "quiet", "no call")]),
      ...side.defects.map((drawing) => make("pre", "caret", drawing)),
      table(names, attempts, [1, 2, 6, 7]),
      repeat(side),
    );
  }

  function fact(name, value) {
    return value ? make("p", "", make("span", "quiet", `${name}: `), value) : null;
  }

  function opened(row) {
    const box = make("div", "opened");
    if (row.message) box.append(make("p", "", row.message));
    const commands = row.commands.map((command) => make("code", "", command));
    if (!row.sides) {
      box.append(...commands.map((command) => make("p", "", "Both outputs: ", command)));
      return box;
    }
    const facts = make("div", "facts");
    const known = [
      fact("means", row.meaning),
      fact("what to do", row.advice),
      row.also_cut ? fact("also cut", "this stood in the text before the place of the cut") : null,
      fact("would have sufficed", row.sufficed),
      fact("differs at", row.paths.join(", ")),
      fact("first difference", row.divergence),
      fact("went wrong in", row.locus),
      fact("reproduced", row.again === null ? "" : row.again.replace("/", " of ")),
      fact("known", row.known ? "the accepted run had it too" : ""),
      fact("judged at", `${row.judged} tokens`),
    ];
    facts.append(...known.filter(Boolean));
    const turn = row.turns > 1 ? `the last of ${row.turns} turns` : "the prompt";
    const prompt = make("details", "", make("summary", "", `${turn}; tools: ${row.tools.join(", ") || "none"}`));
    prompt.append(make("pre", "", row.prompt));
    box.append(facts, fact("due", make("span", "mono", row.due.join("; "))), prompt);
    box.append(make("div", "sides", ...row.sides.map((side) => sideOf(side, row))));
    box.append(...commands.map((command) => make("p", "quiet", "in a terminal: ", command)));
    return box;
  }

  function draw() {
    const found = matching();
    const pages = Math.max(1, Math.ceil(found.length / PER_PAGE));
    page = Math.min(page, pages - 1);
    const rows = found.slice(page * PER_PAGE, (page + 1) * PER_PAGE).map((row) => {
      const details = make("details", "row", summaryOf(row));
      details.addEventListener("toggle", (event) => {
        if (event.target === details && details.open && details.childElementCount === 1) details.append(opened(row));
      });
      return details;
    });
    document.getElementById("rows").replaceChildren(...(rows.length ? [header(), ...rows] : []));
    document.getElementById("count").textContent = `${found.length} of ${data.rows.length} findings`;
    document.getElementById("page").textContent = `page ${page + 1} of ${pages}`;
    document.getElementById("pages").hidden = pages === 1;
    document.getElementById("previous").disabled = page === 0;
    document.getElementById("next").disabled = page === pages - 1;
  }

  const turn = (by) => () => { page += by; draw(); };
  const restart = () => { page = 0; draw(); };
  for (const select of selects) {
    fill(select);
    select.addEventListener("change", restart);
  }
  search.addEventListener("input", restart);
  document.getElementById("previous").addEventListener("click", turn(-1));
  document.getElementById("next").addEventListener("click", turn(1));
  document.getElementById("rows").classList.toggle("one-pair", !hasCandidates);
  filters.hidden = data.rows.length === 0;
  draw();
})();
