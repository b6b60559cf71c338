// Zooms flame graphs and searches their frames. The page is complete without this script.
//
// The script must not contain a less-than sign or an ampersand. The page's content security policy
// contains its hash, so an HTML parser and an XML parser must find the same text.
"use strict";

class FlameGraph {
  constructor(figure) {
    this.svg = figure.querySelector("svg");
    this.reset = figure.querySelector(".reset");
    this.result = figure.querySelector(".matches");
    this.frames = [];
    const callers = [];
    for (const element of this.svg.querySelectorAll(".frame")) {
      const depth = Number(element.dataset.depth);
      const frame = {
        element,
        depth,
        name: element.dataset.name,
        width: Number(element.dataset.width),
        shares: element.dataset.shares.split(" ").map(Number),
        caller: callers[depth - 1],
        callees: [],
      };
      callers[depth] = frame;
      frame.caller?.callees.push(frame);
      this.frames.push(frame);
    }
    this.phase = this.frames[0];
    const rect = this.phase.element.querySelector("rect");
    this.left = rect.x.baseVal.value;
    this.room = rect.width.baseVal.value;

    this.svg.setAttribute("role", "group");
    for (const { element } of this.frames) element.setAttribute("role", "button");
    this.choose(this.phase);
    this.svg.addEventListener("click", (event) => {
      const frame = this.frameOf(event.target);
      if (frame) this.zoom(frame);
    });
    this.svg.addEventListener("keydown", (event) => this.press(event));
    this.reset.addEventListener("click", () => {
      this.zoom(this.phase);
      this.phase.element.focus({ preventScroll: true });
    });
  }

  frameOf(target) {
    const element = target.closest(".frame");
    return this.frames.find((frame) => frame.element === element);
  }

  // Makes a frame as wide as the graph, and hides all frames but its callers and callees.
  zoom(frame) {
    if (frame.width === 0) return;
    for (const { element } of this.frames) element.classList.add("out");
    for (let caller = frame.caller; caller; caller = caller.caller) {
      this.place(caller, this.left, this.room);
    }
    this.spread(frame, this.left, this.room / frame.width);
    this.reset.hidden = frame === this.phase;
    this.choose(frame);
  }

  spread(frame, x, scale) {
    this.place(frame, x, frame.width * scale);
    for (const callee of frame.callees) {
      this.spread(callee, x, scale);
      x += callee.width * scale;
    }
  }

  place(frame, x, width) {
    frame.element.classList.remove("out");
    const rect = frame.element.querySelector("rect");
    const text = frame.element.querySelector("text");
    const margin = text.x.baseVal[0].value - rect.x.baseVal.value;
    rect.setAttribute("x", x);
    rect.setAttribute("width", width);
    text.setAttribute("x", x + margin);
    text.textContent = frame.name;
    const room = Math.max(width - 2 * margin, 0);
    let letters = Math.floor((frame.name.length * room) / text.getComputedTextLength());
    while (text.getComputedTextLength() > room) {
      text.textContent = letters > 1 ? frame.name.slice(0, letters) + "…" : "";
      letters -= 1;
    }
  }

  // Makes a frame the one that the Tab key reaches.
  choose(frame) {
    for (const { element } of this.frames) element.setAttribute("tabindex", "-1");
    frame.element.setAttribute("tabindex", "0");
  }

  press(event) {
    const frame = this.frameOf(event.target);
    if (!frame) return;
    const isVisible = (it) => !it.element.classList.contains("out");
    const visible = this.frames.filter(isVisible);
    const row = visible.filter((it) => it.depth === frame.depth);
    const callees = frame.callees.filter(isVisible).sort((a, b) => b.width - a.width);
    const next = {
      ArrowUp: () => frame.caller,
      ArrowDown: () => callees[0],
      ArrowLeft: () => row[row.indexOf(frame) - 1],
      ArrowRight: () => row[row.indexOf(frame) + 1],
      Enter: () => this.zoom(frame),
      " ": () => this.zoom(frame),
      Escape: () => this.zoom(this.phase),
    }[event.key];
    if (!next) return;
    event.preventDefault();
    const chosen = next();
    if (!chosen) return;
    this.choose(chosen);
    chosen.element.focus();
  }

  // Marks the functions whose names contain the text, and returns their number.
  search(text) {
    const shares = this.phase.shares.map(() => 0);
    let count = 0;
    for (const frame of this.frames) {
      const isFunction = frame !== this.phase;
      const isMatch = isFunction ? frame.name.toLowerCase().includes(text) : false;
      const isFound = text === "" ? false : isMatch;
      frame.element.classList.toggle("match", isFound);
      // A match within another one is already part of its share.
      const isInside = frame.caller?.isCovered ?? false;
      frame.isCovered = isFound || isInside;
      if (!isFound) continue;
      count += 1;
      if (!isInside) frame.shares.forEach((share, side) => (shares[side] += share));
    }
    const [now, baseline] = shares.map((share) => share.toFixed(1) + " %");
    const compared = baseline ? " (baseline: " + baseline + ")" : "";
    this.result.textContent = count ? "matches: " + now + " of the phase" + compared : "";
    this.svg.classList.toggle("searched", text !== "");
    return count;
  }
}

const hasFrames = (figure) => figure.querySelector(".frame") !== null;
const figures = [...document.querySelectorAll("figure")].filter(hasFrames);
const graphs = figures.map((figure) => new FlameGraph(figure));
const bar = document.querySelector(".search");
const input = bar.querySelector("input");
input.addEventListener("input", () => {
  const text = input.value.trim().toLowerCase();
  const counts = graphs.map((graph) => graph.search(text));
  const matching = counts.filter((count) => count > 0).length;
  const total = counts.reduce((sum, count) => sum + count, 0);
  const places = ", in " + matching + " of " + graphs.length + " graphs";
  bar.querySelector("output").textContent = text ? "matching frames: " + total + places : "";
});
bar.hidden = false;
