// A bar for each step of the translation, side by side: hover reads a step, click or Enter picks it, arrow keys move.

const LEAST_BAR = 12; // pixels of a step; what does not fit scrolls inside the picture
const MOST_BAR = 64;
const AXIS = 52; // pixels of the numbers beside the bars

// says(step) is the text of a step's column; point(step or null) and pick(step) are called with steps from 0.
function stepBars(theme, { marker, label, texts, height, point, pick }) {
  const holder = element("div", { class: "step-bars" });
  const canvas = element("canvas", { tabindex: "0", role: "application", "data-marker": marker });
  canvas.setAttribute("aria-label", `${label}, ${texts.length} steps. Left and right move, Enter picks a step.`);
  holder.append(canvas);
  const fade = fadeWhereMore(holder);
  const T = texts.length;
  let place = null;

  function measure(width) {
    const context = canvas.getContext("2d");
    context.font = `13px ${CODE}`;
    const longest = Math.max(...texts.map((text) => context.measureText(text).width));
    const top = Math.ceil(Math.min(longest * 0.8 + 20, 84));
    const over = overhang(longest, top - 12);
    const cell = bounded((width - AXIS - 4 - over) / T, LEAST_BAR, MOST_BAR);
    place = { x: AXIS, y: top, cell, width: Math.max(width - 2, AXIS + T * cell + over) };
  }

  // bars(step): [value, colour, share of the column's width], the widest first. ticks: values beside the axis.
  function draw(width, { bars, most, ticks, step, hovered }) {
    if (!place || place.for !== width) measure(width);
    place.for = width;
    const { x, y, cell } = place;
    const context = sized(canvas, place.width, y + height + 10);
    const at = (value) => y + height - (value / most) * height;
    context.font = `11px ${CODE}`;
    context.textAlign = "right";
    for (const [value, text] of ticks) {
      context.fillStyle = theme.line;
      context.fillRect(x, Math.round(at(value)), T * cell, 1);
      context.fillStyle = theme.soft;
      context.fillText(text, x - 6, at(value) + 4);
    }
    for (let index = 0; index < T; index++) {
      for (const [from, to, colour, share] of bars(index)) {
        context.fillStyle = colour;
        const wide = Math.max(1, (cell - 4) * share);
        context.fillRect(x + (index + 0.5) * cell - wide / 2, at(to), wide, Math.max(0.5, at(from) - at(to)));
      }
    }
    drawColumnLabels(context, theme, texts, { x, y: y - 2, cell }, { marked: hovered ?? step, room: y - 12 });
    for (const [index, line] of [[hovered, 1], [step, 2]]) {
      if (index !== null) outline(context, theme, x + index * cell, y - 1, cell, height + 3, line);
    }
    fade();
  }

  function under(event) {
    const index = Math.floor((pointed(event, canvas)[0] - place.x) / place.cell);
    return index >= 0 && index < T ? index : null;
  }

  function bringIntoSight(index) {
    const left = place.x + index * place.cell;
    const room = holder.clientWidth - place.cell - FADE;
    holder.scrollLeft = Math.max(Math.min(holder.scrollLeft, left - place.x), left - room);
  }

  let hovered = null;
  function move(to) {
    if (to === hovered) return;
    hovered = to;
    point(hovered);
  }
  const walk = (by, from) => () => {
    move(bounded((hovered ?? from()) + by, 0, T - 1));
    bringIntoSight(hovered);
  };
  function listen(step) {
    onPointer(canvas, under, move, pick);
    onKeys(canvas, {
      ArrowLeft: walk(-1, step),
      ArrowRight: walk(1, step),
      Home: walk(-T, step),
      End: walk(T, step),
      Enter: () => (hovered === null ? false : pick(hovered)),
      Escape: () => (hovered === null ? false : move(null)),
    });
  }

  return { holder, draw, listen, bringIntoSight };
}

// What stands under the bars: what the step says, its pieces as bars, and beside those a card for sliders.
function underSteps(root, strip, { said, bars: marker, look }) {
  const reading = element("p", { class: "reading" });
  const aloud = element("p", { class: "hidden", "aria-live": "polite", "data-marker": said });
  const bars = element("div", { class: `strip chances ${look}`.trim(), "data-marker": marker });
  const sliders = element("div", { class: "card sliders" });
  const both = element("div", { class: "both" });
  both.append(bars, sliders);
  root.append(strip.holder, reading, both, aloud);
  return { reading, aloud, bars, sliders };
}

// Tells Python what a slider was set to, once it has rested. Until then root.untold holds it, and outlives an answer to
// something earlier.
function afterRest(root, tell) {
  let resting = null;
  const stop = () => clearTimeout(resting);
  const rest = () => {
    stop();
    resting = setTimeout(() => {
      root.untold = null;
      tell();
    }, REST);
  };
  if (root.untold !== undefined && root.untold !== null) rest();
  return { rest, stop };
}
