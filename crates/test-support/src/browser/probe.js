// Logs every problem with the page to the console, and a final line when it has finished.
addEventListener("load", () => {
  const say = (what) => console.error("probe: " + what);
  const root = document.documentElement;
  if (root.scrollWidth > innerWidth) {
    say("the page is " + root.scrollWidth + " wide in a window of " + innerWidth);
  }
  for (const it of document.querySelectorAll(".scroll:has(table)")) {
    // A narrow page does not have enough room for all columns.
    if (innerWidth > 1000 && it.scrollWidth > it.clientWidth) {
      say(it.ariaLabel + " is " + it.scrollWidth + " wide in " + it.clientWidth);
    }
  }
  const box = (it) => it.getBoundingClientRect();
  const checkTexts = () => {
    let texts = 0;
    for (const svg of document.querySelectorAll("svg")) {
      const outer = box(svg);
      const isDrawn = (it) => it.textContent && !it.closest(".out");
      const all = [...svg.querySelectorAll("text")].filter(isDrawn);
      const boxes = all.map((it) => [it.textContent, box(it)]);
      boxes.forEach(([a, x], place) => {
        texts += 1;
        if (x.width < 1 || x.height < 1) say("no room for the text " + a);
        if (x.left < outer.left || x.right > outer.right || x.bottom > outer.bottom) {
          say("the text " + a + " is cut off");
        }
        for (const [b, y] of boxes.slice(place + 1)) {
          const isBeside = x.left >= y.right || y.left >= x.right;
          // A line is taller than its letters.
          const isAbove = x.top + 4 >= y.bottom || y.top + 4 >= x.bottom;
          if (!isBeside && !isAbove) say("the texts " + a + " and " + b + " overlap");
        }
      });
    }
    return texts;
  };
  const texts = checkTexts();
  const luminance = (colour) => {
    const [r, g, b] = colour.match(/[\d.]+/g).map((it) => {
      const c = it / 255;
      return c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4;
    });
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const page = luminance(getComputedStyle(document.body).backgroundColor);
  for (const it of document.querySelectorAll("h1, p, dt, dd, a, td, th, li, .badge, b, svg text")) {
    const style = getComputedStyle(it);
    const own = luminance(it.closest("svg") ? style.fill : style.color);
    const frame = it.closest(".frame")?.querySelector("rect");
    const ground = frame ? luminance(getComputedStyle(frame).fill) : page;
    const ratio = (Math.max(own, ground) + 0.05) / (Math.min(own, ground) + 0.05);
    if (ratio < 4.5) say("contrast of " + ratio.toFixed(1) + ": " + it.textContent);
  }
  const ids = [...document.querySelectorAll("[id]")].map((it) => it.id);
  if (new Set(ids).size != ids.length) say("an id is there twice");
  for (const it of document.querySelectorAll("a[href^='#']")) {
    if (!ids.includes(it.getAttribute("href").slice(1))) say("no place for the link " + it.href);
  }
  if (document.querySelector(".frame")) probeFrames(say, checkTexts);
  console.info("probed " + texts + " texts");
});
