// What each view is made of.

function h(tag, attributes = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) if (value !== null && value !== false) made.setAttribute(name, value === true ? "" : value);
  made.append(...children.flat(3).map((each) => (each instanceof Node ? each : String(each ?? ""))));
  return made;
}

const seconds = (value) => (value < 1 ? `${Math.round(value * 1000)} ms` : `${value.toFixed(1)} s`);
const time = (since) => new Date(since * 1000).toLocaleString();
const short = (id) => id.slice(0, 8);
const text = (value) => (typeof value === "string" ? value : JSON.stringify(value, null, 2));

function reward(value, fault) {
  if (value === null) return h("span", { class: "unscored" }, `unscored${fault ? ` (${fault})` : ""}`);
  return h("span", { class: value >= 1 ? "pass" : value > 0 ? "" : "fail" }, String(Math.round(value * 1e6) / 1e6));
}

function table(caption, names, rows) {
  const numbers = new Set(["steps", "turns", "calls", "tokens", "time", "reward", "score"]);
  const kind = (name) => (numbers.has(name) ? { class: "number" } : {});
  return h("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": caption },
    h("table", {},
      h("caption", {}, caption),
      h("thead", {}, h("tr", {}, names.map((name) => h("th", { scope: "col", ...kind(name) }, name)))),
      h("tbody", {}, rows.map((row) => h("tr", {}, row.map((cell, place) => h("td", kind(names[place]), cell)))))));
}

const PARTS = { T: "tasks", H: "harness", V: "verifier", S: "state", C: "configuration" };

function environment(each) {
  const known = Object.entries(PARTS).filter(([key]) => key in each.parts).map(([key, name]) => [h("dt", {}, `${key} `, h("span", { class: "soft" }, name)), h("dd", {}, each.parts[key])]);
  const others = Object.entries(each.parts).filter(([key]) => !PARTS[key]).map(([key, value]) => [h("dt", {}, key), h("dd", {}, value)]);
  return h("article", { class: "card" }, h("h3", {}, each.name), h("dl", {}, known, others), h("p", { class: "soft" }, `fingerprint ${each.fingerprint.slice(0, 16)}`));
}

export function overview({ environments }, { episodes }, { trajectories }) {
  const open = episodes.filter((each) => each.status === "open");
  const rows = trajectories.map((each) => [
    h("input", { type: "checkbox", name: "id", value: each.id, "aria-label": `compare ${short(each.id)}`, "data-key": `check-${each.id}` }),
    h("a", { href: `#/trajectories/${each.id}`, "data-key": each.id }, short(each.id)),
    each.environment, each.task, each.agent, reward(each.reward, each.fault), each.stop, each.turns, each.calls, each.tokens, seconds(each.seconds),
  ]);
  const button = h("button", { disabled: true }, "Compare two");
  const form = h("form", { class: "compare" }, table("Newest first", ["", "id", "environment", "task", "agent", "reward", "stop", "turns", "calls", "tokens", "time"], rows), button);
  const chosen = () => [...form.querySelectorAll("input:checked")].map((each) => each.value);
  form.addEventListener("change", () => { button.disabled = chosen().length !== 2; });
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    location.hash = `#/compare/${chosen().join("/")}`;
  });
  return h("div", {},
    h("h2", {}, "Environments"), h("div", { class: "cards" }, environments.map(environment)),
    h("h2", {}, `Open episodes (${open.length})`),
    open.length ? table("Newest first", ["id", "environment", "task", "agent", "steps", "began"], open.map((each) => [short(each.id), each.environment, each.task_id, each.agent_id, each.steps, time(each.began)]))
      : h("p", { class: "soft" }, "None. POST /episodes begins one."),
    h("h2", {}, "Trajectories"), trajectories.length ? form : h("p", { class: "soft" }, "None yet."));
}

function message(each, number, differs) {
  const sampled = each.role === "assistant";
  const calls = (each.tool_calls || []).map((call) => h("pre", {}, `${call.function.name}(${call.function.arguments})`));
  const told = `${number} · ${each.role}${sampled ? " · sampled by the policy (mask 1)" : " · given (mask 0)"}${differs ? " · differs" : ""}`;
  return h("section", { class: `message${sampled ? " sampled" : ""}${differs ? " differs" : ""}`, "aria-label": told },
    h("div", { class: "soft" }, told),
    each.reasoning_content ? h("pre", { class: "soft" }, text(each.reasoning_content)) : [],
    each.content ? h("pre", {}, text(each.content)) : [], calls);
}

function stages(list, depth = 0) {
  return list.flatMap((each) => {
    const more = { ...each.data, ...(each.private ? { private: each.private } : {}) };
    const detail = h("div", {}, each.detail || each.fault || "");
    if (Object.keys(more).length) detail.append(h("details", {}, h("summary", {}, "data, such as the difference of state"), h("pre", {}, text(more))));
    return [[`${"\u2003".repeat(depth)}${each.stage}`, each.score === null ? h("span", { class: "unscored" }, "no score") : each.score, seconds(each.seconds), detail], ...stages(each.children || [], depth + 1)];
  });
}

function summary(each) {
  const rows = [["environment", each.environment], ["task", each.task], ["agent", each.agent], ["reward", reward(each.reward, each.fault)], ["stop", each.stop],
    ["turns", each.turns], ["calls", `${each.calls} (${each.tools} different)`], ["tokens", each.tokens], ["time", seconds(each.seconds)], ["began", time(each.began)], ["seed", each.seed], ["fingerprint", each.fingerprint.slice(0, 16)]];
  return h("dl", { class: "card" }, rows.map(([name, value]) => [h("dt", {}, name), h("dd", {}, value)]));
}

const RESULTS = ["stage", "score", "time", "detail"];

export function trajectory(each) {
  const trace = each.trace.map((turn, place) => [place, seconds(turn[0]), seconds(turn[1]), turn[2], turn[4].map((call) => `${call[0]}${call[2] ? ` (${call[2]})` : ""}`).join(", ")]);
  return h("div", {},
    h("h2", {}, `Trajectory ${short(each.id)}`), summary(each),
    h("h2", {}, "Reward by stage"), table("In the order in which they ran", RESULTS, stages(each.stages)),
    h("h2", {}, "Turns"), table("Of the policy", ["turn", "policy waited", "tools took", "tokens", "calls"], trace),
    h("h2", {}, "Messages"), each.messages.map((one, place) => message(one, place, false)));
}

export function comparison(first, second) {
  const sides = [[first, second], [second, first]].map(([each, other]) => h("div", {},
    h("h2", {}, h("a", { href: `#/trajectories/${each.id}` }, `Trajectory ${short(each.id)}`)), summary(each),
    table("Reward by stage", RESULTS, stages(each.stages)),
    each.messages.map((one, place) => message(one, place, JSON.stringify(one) !== JSON.stringify(other.messages[place])))));
  return h("div", { class: "columns" }, sides);
}
