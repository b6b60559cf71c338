// Checks that the first flame graph can be enlarged and searched. The figures are those of the
// profile in `tools/profiler/src/page_tests.rs`.
const probeFrames = (say, checkTexts) => {
  const expect = (what, found, expected) => {
    if (found !== expected) say(what + ": " + found + " instead of " + expected);
  };
  const figure = document.querySelector("figure:has(.frame)");
  const frames = [...figure.querySelectorAll(".frame")];
  // A name may follow a sign or the name in the baseline.
  const named = (name) => frames.find((it) => it.dataset.name.includes(name));
  const width = (frame) => Math.round(frame.querySelector("rect").getBoundingClientRect().width);
  const reset = figure.querySelector(".reset");
  const widths = frames.map(width);
  const expectZoomed = (what) => {
    expect(what + ": width", width(named("suspend")), width(frames[0]));
    expect(what + ": caller's width", width(named("smc")), width(frames[0]));
    expect(what + ": frames", frames.filter(width).length, 8);
    expect(what + ": reset button", reset.hidden, false);
    checkTexts();
  };
  const expectWhole = (what) => {
    const moved = frames.filter((it, place) => Math.abs(width(it) - widths[place]) > 1);
    expect(what + ": frames with other widths", moved.length, 0);
    expect(what + ": reset button", reset.hidden, true);
    checkTexts();
  };

  named("suspend").dispatchEvent(new MouseEvent("click", { bubbles: true }));
  expectZoomed("click");
  reset.click();
  expectWhole("reset");
  named("suspend").dispatchEvent(new MouseEvent("click", { bubbles: true }));
  frames[0].dispatchEvent(new MouseEvent("click", { bubbles: true }));
  expectWhole("click on the phase");

  const press = (key) => {
    const event = new KeyboardEvent("keydown", { key, bubbles: true, cancelable: true });
    document.activeElement.dispatchEvent(event);
  };
  const expectFocus = (key, name) => {
    press(key);
    expect("focus after " + key, document.activeElement, named(name));
    expect("frames that Tab reaches", figure.querySelectorAll("[tabindex='0'].frame").length, 1);
  };
  frames[0].focus();
  expectFocus("ArrowDown", "smc");
  expectFocus("ArrowDown", "suspend");
  expectFocus("ArrowLeft", "nosuch");
  expectFocus("ArrowRight", "suspend");
  expectFocus("Enter", "suspend");
  expectZoomed("Enter");
  expectFocus("Escape", "suspend");
  expectWhole("Escape");
  press(" ");
  expectZoomed("space");
  expectFocus("ArrowUp", "smc");
  press("Escape");
  expectWhole("Escape on a caller");

  const input = document.querySelector(".search input");
  const search = (text) => {
    input.value = text;
    input.dispatchEvent(new Event("input"));
    return figure.querySelector(".matches").textContent;
  };
  const hasBaseline = document.querySelector(".flame") === null;
  const baseline = hasBaseline ? " (baseline: 56.0 %)" : "";
  expect("search bar", document.querySelector(".search").hidden, false);
  expect("found", search(" MEM"), "matches: 25.0 % of the phase" + baseline);
  expect("matches", frames.filter((it) => it.matches(".match")).length, 2);
  const summary = document.querySelector(".search output").textContent;
  expect("summary", summary, "matching frames: 2, in 1 of 2 graphs");
  expect("nothing found", search("entry"), "");
  expect("empty search", search(""), "");
  expect("matches of an empty search", document.querySelectorAll(".match, .searched").length, 0);
};
