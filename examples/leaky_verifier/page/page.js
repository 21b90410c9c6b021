"use strict";
const found = JSON.parse(document.getElementById("found").textContent);
const slider = document.getElementById("strength");
const W = 400, H = 270, LEFT = 44, RIGHT = 110, TOP = 10, BASE = 226;
const CURVES = [["train", "t", ""], ["heldout", "h", ""], ["train", "t", " after"], ["heldout", "h", " after"]];
const last = (values) => values[values.length - 1];
const two = (value) => value.toFixed(2);
const range = (band, at) => `${two(band.mean[at])} (${two(band.low[at])} to ${two(band.high[at])})`;

function draw(parent, name, attributes, text) {
  const made = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  if (text !== undefined) made.textContent = text;
  parent.append(made);
  return made;
}

function fresh(id, label) {
  const svg = document.getElementById(id);
  svg.setAttribute("viewBox", `0 0 ${W} ${H}`);
  svg.setAttribute("aria-label", label);
  svg.replaceChildren();
  return svg;
}

const yOf = (value) => BASE - (BASE - TOP) * value;

function frame(svg, across, xOf, places) {
  for (let tick = 0; tick <= 5; tick++) {
    const y = yOf(tick / 5);
    draw(svg, "path", { class: "grid", d: `M${LEFT} ${y}H${W - RIGHT}` });
    draw(svg, "text", { class: "soft", x: LEFT - 6, y: y + 4, "text-anchor": "end" }, String(tick / 5));
  }
  for (const place of places) draw(svg, "text", { class: "soft", x: xOf(place), y: BASE + 17, "text-anchor": "middle" }, String(place));
  draw(svg, "path", { class: "axis", d: `M${LEFT} ${TOP}V${BASE}H${W - RIGHT}` });
  draw(svg, "path", { class: "chance", d: `M${LEFT} ${yOf(found.chance)}H${W - RIGHT}` });
  draw(svg, "text", { x: (LEFT + W - RIGHT) / 2, y: H - 8, "text-anchor": "middle" }, across);
  draw(svg, "text", { transform: `translate(12 ${(TOP + BASE) / 2})rotate(-90)`, "text-anchor": "middle" }, "mean reward (0 to 1)");
}

function apart(labels) {
  labels.sort((a, b) => a.y - b.y);
  labels.forEach((label, n) => { if (n) label.y = Math.max(label.y, labels[n - 1].y + 14); });
  const over = last(labels).y - BASE;
  if (over > 0) [...labels].reverse().forEach((label, n, all) => { label.y = n ? Math.min(label.y, all[n - 1].y - 14) : BASE; });
}

function lines(svg, xs, bands, marked) {
  const labels = [];
  CURVES.forEach(([key, color, after], n) => {
    const band = bands[n];
    const points = (values) => values.map((v, i) => `${xs[i].toFixed(1)} ${yOf(v).toFixed(1)}`);
    draw(svg, "path", { class: `band ${color}`, d: `M${[...points(band.high), ...points(band.low).reverse()].join("L")}Z` });
    draw(svg, "path", { class: `line ${color}${after}`, "data-curve": key + after, d: `M${points(band.mean).join("L")}` });
    for (const at of marked) {
      const x = xs[at], y = yOf(band.mean[at]), dot = `dot ${color}${after}`;
      if (color === "t") draw(svg, "circle", { class: dot, cx: x, cy: y, r: 3.6 });
      else draw(svg, "rect", { class: dot, x: x - 3.4, y: y - 3.4, width: 6.8, height: 6.8 });
    }
    labels.push({ y: yOf(last(band.mean)) + 4, color, text: (key === "train" ? "train" : "held out") + (after ? ", fixed" : "") });
  });
  apart(labels);
  for (const one of labels) draw(svg, "text", { class: one.color, x: last(xs) + 8, y: one.y }, one.text);
}

function steps(run) {
  const svg = fresh("steps", `Reward over ${last(found.steps)} steps: in training ${two(last(run.train.mean))}, held out ${two(last(run.heldout.mean))} in the end`);
  const xOf = (step) => LEFT + (W - LEFT - RIGHT) * step / last(found.steps);
  frame(svg, "steps of training", xOf, [0, 1, 2, 3, 4].map((n) => Math.round(n * last(found.steps) / 4)));
  const every = found.steps.map((_, n) => n).filter((n) => n % 5 === 0);
  lines(svg, found.steps.map(xOf), CURVES.map(([key, , after]) => (after ? found.after : run)[key]), every);
}

function strengths(at) {
  const svg = fresh("strengths", `Reward after training at leak strengths from 0 to 1; the line stands at ${two(found.strengths[at])}`);
  const xOf = (strength) => LEFT + (W - LEFT - RIGHT) * strength;
  frame(svg, "leak strength (reward that the words pay)", xOf, [0, 0.2, 0.4, 0.6, 0.8, 1]);
  const of = (key, part, after) => found.before.map((run) => last((after ? found.after : run)[key][part]));
  const bands = CURVES.map(([key, , after]) => Object.fromEntries(["low", "mean", "high"].map((part) => [part, of(key, part, after)])));
  draw(svg, "path", { class: "here", d: `M${xOf(found.strengths[at])} ${TOP}V${BASE}` });
  lines(svg, found.strengths.map(xOf), bands, [at]);
}

function weights(run) {
  const svg = fresh("weights", `Weights: real signal ${two(last(run.real.mean))}, leak ${two(last(run.leak.mean))}`);
  const most = Math.ceil(Math.max(1, ...[...found.before, found.after].flatMap((one) => [last(one.real.high), last(one.leak.high)])));
  const xOf = (weight) => 16 + (W - 32) * Math.max(0, weight) / most;
  for (let tick = 0; tick <= most; tick += Math.ceil(most / 5)) {
    draw(svg, "path", { class: "grid", d: `M${xOf(tick)} ${TOP}V${BASE}` });
    draw(svg, "text", { class: "soft", x: xOf(tick), y: BASE + 17, "text-anchor": "middle" }, String(tick));
  }
  [["real", "real signal: the last digit fits"], ["leak", "leak: the words “step by step”"]].forEach(([key, name], n) => {
    const top = TOP + 8 + n * 108;
    draw(svg, "text", { x: 18, y: top + 6, "font-weight": 600 }, name);
    [[run, ""], [found.after, " after"]].forEach(([one, after], m) => {
      const y = top + 14 + m * 38, band = one[key], end = last(band.mean);
      draw(svg, "rect", { class: `bar${after}`, "data-weight": key + after, x: 16, y, width: xOf(end) - 16, height: 18 });
      draw(svg, "path", { class: "whisker", d: `M${xOf(last(band.low))} ${y + 9}H${xOf(last(band.high))}` });
      draw(svg, "text", { class: "soft", x: 18, y: y + 31 }, `${after ? "fixed" : "leaky"}: ${range(band, band.mean.length - 1)}`);
    });
  });
  draw(svg, "path", { class: "axis", d: `M16 ${TOP}V${BASE}H${W - 16}` });
  draw(svg, "text", { x: W / 2, y: H - 8, "text-anchor": "middle" }, "weight (log-odds of a draft that has it)");
}

function table(run) {
  const rows = [["", "leaky, at this strength", "fixed"]];
  const names = { train: "reward on training tasks", heldout: "reward on held-out tasks", real: "weight of the real signal", leak: "weight of the leak" };
  for (const [key, name] of Object.entries(names)) rows.push([name, range(run[key], run[key].mean.length - 1), range(found.after[key], found.after[key].mean.length - 1)]);
  document.getElementById("table").replaceChildren(...rows.map((row, n) => {
    const line = document.createElement("tr");
    line.append(...row.map((text, m) => {
      const cell = document.createElement(n === 0 || m === 0 ? "th" : "td");
      cell.textContent = text;
      return cell;
    }));
    return line;
  }));
}

function show() {
  const at = Number(slider.value), run = found.before[at], strength = found.strengths[at];
  const train = last(run.train.mean), held = last(run.heldout.mean), honest = last(found.after.heldout.mean);
  document.getElementById("value").textContent = two(strength);
  slider.setAttribute("aria-valuetext", two(strength));
  const lost = last(run.heldout.high) < last(found.after.heldout.low);
  const verdict = strength === 0 ? "Nothing leaks: this is the fixed verifier."
    : !lost ? "The leak is a side income: the task is still learned."
    : last(run.heldout.high) > (found.chance + honest) / 2 ? "Some of the policies have left the task for the leak."
    : "The policy lives on the leak: on held-out tasks it is no better than choosing blindly.";
  document.getElementById("said").textContent = `${verdict} Training shows ${two(train)}, held-out tasks show ${two(held)}; after the fix they show ${two(honest)}; choosing blindly earns ${two(found.chance)}.`;
  weights(run);
  steps(run);
  strengths(at);
  table(run);
}

slider.max = String(found.strengths.length - 1);
slider.value = String(found.strengths.indexOf(found.shipped));
slider.addEventListener("input", show);
document.getElementById("method").textContent = `Each curve is the mean of ${found.seeds} policies with Student's 95 % interval; each has two weights (is the last digit possible? are the words there?), ` +
  `learns by REINFORCE for ${last(found.steps)} steps, and is measured exactly on all tasks of a split. Each gets drafts of its own: one of six is right, one of six says the words. ` +
  `The correlation of the two is ${found.together.train} in training and ${found.together.heldout} on held-out tasks. Every reward was paid by rlenv's own verifier; the environment as shipped has strength ${found.shipped}.`;
show();
document.documentElement.dataset.ready = "1";
