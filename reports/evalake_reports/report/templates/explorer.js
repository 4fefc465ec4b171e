"use strict";
(() => {
  const make = (tag, className, text) => {
    const node = document.createElement(tag);
    if (className) node.className = className;
    if (text !== undefined && text !== null) node.textContent = text;
    return node;
  };
  const swatch = (colour) => {
    const node = make("i", "swatch");
    node.style.background = colour;
    return node;
  };
  const score = (value) => (value === null ? "–" : value.toFixed(2).replace("-", "−"));

  async function unpack(text) {
    const bytes = Uint8Array.from(atob(text.trim()), (c) => c.charCodeAt(0));
    const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
    return JSON.parse(await new Response(stream).text());
  }

  const FOUND = (value) => value !== null && value > 0;
  const SHOW = {
    all: ["all tasks", () => true],
    flipped: ["flipped between the two", (t, s) => {
      const [a, b] = [t.scores[s.a], t.scores[s.b]];
      return a !== null && b !== null && FOUND(a) !== FOUND(b);
    }],
    right: ["right arm better", (t, s) => t.scores[s.b] !== null && t.scores[s.a] !== null && t.scores[s.b] > t.scores[s.a]],
    left: ["left arm better", (t, s) => t.scores[s.b] !== null && t.scores[s.a] !== null && t.scores[s.a] > t.scores[s.b]],
    unfound: ["found by no arm", (t, s, arms) => !t.scores.some((v, i) => !arms[i].control && FOUND(v))],
    missing: ["without a score", (t, s) => t.scores[s.a] === null || t.scores[s.b] === null],
  };

  function start(section, data) {
    const app = section.querySelector(".app");
    const state = { show: "all", labels: {}, text: "", a: data.baseline, b: data.candidate, task: null };
    const controls = {};

    const filters = make("form", "filters");
    filters.addEventListener("submit", (event) => event.preventDefault());
    const field = (name, label, input) => {
      const box = make("label", "", label);
      input.name = name;
      box.append(input);
      filters.append(box);
      controls[name] = input;
      input.addEventListener("input", () => {
        if (name.startsWith("label:")) state.labels[name.slice(6)] = input.value;
        else state[name] = name === "a" || name === "b" ? Number(input.value) : input.value;
        draw();
      });
    };
    const choice = (options, chosen) => {
      const select = make("select");
      for (const [value, label] of options) {
        const option = make("option", "", label);
        option.value = value;
        select.append(option);
      }
      select.value = String(chosen);
      return select;
    };
    const labelOf = (task, key) => task[key] || task.labels[key];
    const values = (key) => [...new Set(data.tasks.map((t) => labelOf(t, key)).filter(Boolean))].sort();
    const arms = data.arms.map((arm, i) => [String(i), arm.label]);
    field("show", "Show", choice(Object.entries(SHOW).map(([k, v]) => [k, v[0]]), "all"));
    for (const [key, label] of data.filters) {
      state.labels[key] = "";
      field(`label:${key}`, label, choice([["", "any"], ...values(key).map((v) => [v, v])], ""));
    }
    field("a", "Left arm", choice(arms, state.a));
    field("b", "Right arm", choice(arms, state.b));
    const search = make("input");
    search.type = "search";
    search.placeholder = "words or id";
    field("text", "Search", search);

    const count = make("p", "count");
    count.setAttribute("role", "status");
    const split = make("div", "split");
    const side = make("div");
    const list = make("ul", "tasks");
    const keys = make("p", "keys");
    for (const part of [["kbd", "↑"], ["", " "], ["kbd", "↓"], ["", " move, "], ["kbd", "/"], ["", " search"]]) {
      keys.append(part[0] ? make(part[0], "", part[1]) : document.createTextNode(part[1]));
    }
    side.append(list, keys);
    const detail = make("div", "detail");
    split.append(side, detail);
    app.append(filters, count, split);
    app.hidden = false;

    const matches = (task) => {
      if (!SHOW[state.show][1](task, state, data.arms)) return false;
      for (const [key, wanted] of Object.entries(state.labels)) {
        if (wanted && labelOf(task, key) !== wanted) return false;
      }
      const words = state.text.toLowerCase().split(/\s+/).filter(Boolean);
      const hay = `${task.id} ${task.query}`.toLowerCase();
      return words.every((word) => hay.includes(word));
    };

    const entry = (number) => {
      const task = data.tasks[number];
      const item = make("li");
      const button = make("button");
      button.type = "button";
      button.dataset.task = number;
      button.append(make("span", "q", task.query.slice(0, 240)));
      const line = make("span", "s");
      for (const arm of [state.a, state.b]) {
        const part = make("span");
        part.title = data.arms[arm].label;
        part.append(swatch(data.arms[arm].colour), score(task.scores[arm]));
        line.append(part);
      }
      line.append(make("span", "", [task.repo, task.qa_type].filter(Boolean).join(" · ")));
      button.append(line);
      button.addEventListener("click", () => choose(number, true));
      item.append(button);
      return item;
    };

    function choose(number, byHand) {
      state.task = number;
      for (const button of list.querySelectorAll("button")) {
        const current = Number(button.dataset.task) === number;
        if (current) button.setAttribute("aria-current", "true");
        else button.removeAttribute("aria-current");
      }
      show();
      if (byHand) remember(number);
      if (byHand && getComputedStyle(split).gridTemplateColumns.split(" ").length === 1) {
        detail.scrollIntoView({ block: "start" });
      }
    }

    // A task has an address of its own, so that a finding can be passed on.
    const prefix = `#${section.id}=`;
    function remember(number) {
      try {
        history.replaceState(null, "", prefix + encodeURIComponent(data.tasks[number].id));
      } catch { /* a page inside a frame may not */ }
    }
    function addressed() {
      if (!location.hash.startsWith(prefix)) return null;
      const id = decodeURIComponent(location.hash.slice(prefix.length));
      const number = data.tasks.findIndex((task) => task.id === id);
      return number < 0 ? null : number;
    }

    // A hit of `data.hits` by the names of its fields.
    function named(values) {
      const hit = Object.fromEntries(data.hit_fields.map((field, i) => [field, values[i]]));
      for (const field of data.word_fields) hit[field] = data.words[hit[field]] ?? null;
      return hit;
    }

    function hitList(arm, number) {
      const box = make("div", "arm-hits");
      const head = make("h4");
      head.append(swatch(data.arms[arm].colour), data.arms[arm].label);
      const task = data.tasks[number];
      const reason = task.missing[arm];
      box.append(head, make("p", "why", reason ? `no score: ${reason.replace(/_/g, " ")}` : `${data.metric} ${score(task.scores[arm])}`));
      const hits = (data.hits[number] || {})[arm] || [];
      if (!hits.length) {
        box.append(make("p", "muted", "No hits."));
        return box;
      }
      const rows = make("ol", "hits");
      for (const hit of hits.map(named)) {
        const row = make("li", hit.relation ? "match" : "");
        row.append(make("span", "r", hit.rank));
        const first = make("div");
        first.append(make("span", "mono", hit.where));
        if (hit.relation) {
          const chip = make("span", "chip", `match: ${hit.relation.replace(/_/g, " ")}${hit.credited ? "" : ", no credit"}`);
          chip.title = `gold ${hit.gold_id}`;
          first.append(chip);
        }
        row.append(first);
        const more = [hit.name, hit.score === null ? null : `score ${hit.score}`].filter((v) => v !== null);
        if (more.length) row.append(make("div", "muted", more.join(" · ")));
        const [shown, length] = data.texts[hit.text] ?? ["", 0];
        if (length) {
          const fold = make("details");
          const label = shown.length < length ? `text, first ${shown.length.toLocaleString("en")} of ${length.toLocaleString("en")} characters` : "text";
          // Code keeps its lines; prose on one endless line is wrapped.
          const prose = shown.split("\n").some((line) => line.length > 160);
          fold.append(make("summary", "", label), make("pre", prose ? "prose" : "", shown));
          row.append(fold);
        }
        rows.append(row);
      }
      box.append(rows);
      return box;
    }

    function show() {
      detail.replaceChildren();
      if (state.task === null) {
        detail.append(make("p", "muted", "No task fits these filters."));
        return;
      }
      const task = data.tasks[state.task];
      const back = make("button", "back", "Back to the list");
      back.type = "button";
      back.addEventListener("click", () => {
        list.scrollIntoView({ block: "center" });
        const current = list.querySelector("[aria-current]");
        if (current) current.focus({ preventScroll: true });
      });
      detail.append(back, make("h3", "", task.query));
      const facts = make("div", "facts");
      for (const [name, value] of [["task", task.id], ["kind", task.kind], ["type", task.qa_type], ["repository", task.repo], ["library", task.library], ...Object.entries(task.labels)]) {
        if (value) facts.append(make("span", "", `${name.replace(/_/g, " ")} ${value}`));
      }
      detail.append(facts);
      const gold = make("div", "gold");
      gold.append(make("h4", "", task.gold.length === 1 ? "Gold" : `Gold (${task.gold.length})`));
      const items = make("ul");
      for (const item of task.gold) {
        const row = make("li");
        row.append(make("span", "mono", item.where || item.name || item.id));
        const rest = [item.where && item.name, item.level, item.role !== "primary" && item.role, item.grade !== 1 && `grade ${item.grade}`, item.relations.length && `recognised by ${item.relations.join(", ").replace(/_/g, " ")}`];
        row.append(make("span", "muted", ` ${rest.filter(Boolean).join(" · ")}`));
        items.append(row);
      }
      gold.append(items);
      detail.append(gold);
      const sides = make("div", "sides");
      sides.append(hitList(state.a, state.task));
      if (state.b !== state.a) sides.append(hitList(state.b, state.task));
      detail.append(sides);
    }

    function draw() {
      const shown = data.tasks.map((_, i) => i).filter((i) => matches(data.tasks[i]));
      count.textContent = `${shown.length} of ${data.tasks.length} tasks`;
      list.replaceChildren(...shown.map(entry));
      choose(shown.includes(state.task) ? state.task : shown.length ? shown[0] : null, false);
    }

    list.addEventListener("keydown", (event) => {
      const step = { ArrowDown: 1, j: 1, ArrowUp: -1, k: -1 }[event.key];
      if (!step || event.ctrlKey || event.metaKey || event.altKey) return;
      const buttons = [...list.querySelectorAll("button")];
      const next = buttons[buttons.indexOf(document.activeElement) + step];
      if (next) {
        event.preventDefault();
        next.focus();
        choose(Number(next.dataset.task), false);
        remember(state.task);
      }
    });
    document.addEventListener("keydown", (event) => {
      const box = section.getBoundingClientRect();
      const typing = /^(INPUT|SELECT|TEXTAREA)$/.test(document.activeElement.tagName);
      if (event.key === "/" && !typing && box.top < innerHeight && box.bottom > 0) {
        event.preventDefault();
        search.focus();
      }
    });
    state.task = addressed();
    draw();
    if (addressed() !== null) {
      section.scrollIntoView();
      const current = list.querySelector("[aria-current]");
      if (current) list.scrollTop = current.offsetTop - list.offsetTop - 40;
    }
  }

  function theme() {
    const button = document.getElementById("theme");
    const order = ["auto", "light", "dark"];
    const read = () => { try { return localStorage.getItem("evalake-theme") || "auto"; } catch { return "auto"; } };
    const apply = (name) => {
      if (name === "auto") document.documentElement.removeAttribute("data-theme");
      else document.documentElement.dataset.theme = name;
      button.querySelector("span").textContent = name;
    };
    let name = read();
    button.addEventListener("click", () => {
      name = order[(order.indexOf(name) + 1) % order.length];
      try { localStorage.setItem("evalake-theme", name); } catch { /* a page from a file may not store */ }
      apply(name);
    });
    apply(order.includes(name) ? name : "auto");
    button.hidden = false;
  }

  theme();
  for (const section of document.querySelectorAll(".explorer")) {
    unpack(section.querySelector(".packed").textContent)
      .then((data) => start(section, data))
      .catch((error) => {
        const note = make("p", "", `The task explorer could not start: ${error.message}`);
        section.append(note);
      });
  }
})();
