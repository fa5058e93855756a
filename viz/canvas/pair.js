// Masked and cross-attention side by side over the same rows, with all steps of the translation in hand.
// Hover, arrow keys, slider and play run here; Python hears where it stopped.

export default function ({ data, parentElement, setTriggerValue }) {
  const { header, arrays } = unpack(data);
  const { theme, linear } = header;
  const SIDES = ["masked", "cross"];
  const maps = { masked: header.masked, cross: header.cross, encoder: header.encoder };
  const numbers = Object.fromEntries(Object.keys(maps).map((kind) => [kind, numbersOf(kind)]));
  const [T, S] = arrays.cross_weights.shape;
  const TC = maps.masked.columns.length;
  const root = freshRoot(parentElement, theme);
  // A step that Python has not heard of yet outlives its answer to an earlier one.
  let step = bounded(root.untold ?? header.step, 1, T);
  let hovered = null; // {kind, row, column}
  let pinned = header.pinned;
  let playing = null;
  let resting = null;
  let geometry = null;

  const canvas = element("canvas", { tabindex: "0", role: "application", "data-marker": "pair" });
  canvas.setAttribute(
    "aria-label",
    `Masked attention ${T} by ${TC}, cross-attention ${T} by ${S}. Up and down change the step, left and right read its cells, Enter pins one.`,
  );
  const reading = element("p", { class: "reading" });
  const steps = element("div", { class: "steps" });
  const play = button("▶", "play the translation", () => (playing ? stopPlaying() : startPlaying()));
  const slider = element("input", { type: "range", min: "1", max: String(T), step: "1", "aria-label": "step of the translation" });
  slider.value = String(step); // at once: a key may be pressed before anything is drawn
  const where = element("span", { "data-marker": "step" });
  steps.append(play, slider, where);
  const cards = element("div", { class: "pair" });
  const door = button("Arithmetic →", "open the pinned cell inside its head", () => setTriggerValue("arithmetic", pinned));
  const aloud = element("p", { class: "hidden", "aria-live": "polite", "data-marker": "pinned" });
  root.append(canvas, reading, steps, cards, aloud);

  function numbersOf(kind) {
    const of = (name) => arrays[`${kind}_${name}`];
    return { weights: of("weights"), allowed: of("allowed"), shown: of("shown"), open: of("open"), entropy: of("entropy"), marks: of("marks") };
  }

  function go(next, { rest = REST } = {}) {
    next = bounded(next, 1, T);
    if (next === step) return;
    root.untold = step = next;
    redraw();
    clearTimeout(resting);
    if (!playing) resting = setTimeout(tell, rest);
  }

  function tell() {
    root.untold = null;
    setTriggerValue("step", step);
  }

  function startPlaying() {
    if (step === T) step = 1;
    play.textContent = "❚❚";
    playing = setInterval(() => (step === T ? stopPlaying() : go(step + 1)), 700);
    redraw();
  }

  function stopPlaying() {
    clearInterval(playing);
    playing = null;
    play.textContent = "▶";
    tell();
  }

  function pin(target) {
    pinned = target;
    root.untold = null;
    clearTimeout(resting);
    if (target) step = target.row + 1;
    setTriggerValue("pin", target ?? { kind: null, row: step - 1, column: -1 });
    redraw();
  }

  function measure(width) {
    const context = canvas.getContext("2d");
    context.font = `13px ${CODE}`;
    const longest = (labels) => Math.max(...labels.map((label) => context.measureText(label).width));
    const side = Math.min(Math.max(longest(maps.masked.rows), longest(maps.masked.predicts)) + 8, 120, width * 0.13);
    const middle = 2 * side + 44;
    const widest = longest([...maps.masked.columns, ...maps.cross.columns]);
    const top = Math.min(widest * 0.8 + 22, 112) + 30;
    const slack = overhang(widest, top - 44);
    const cell = Math.max(1, Math.min(34, Math.max(20, 480 / T), (width - middle - slack - 4) / (TC + S)));
    const left = 2;
    const right = left + TC * cell + middle;
    return { width, side, middle, top, cell, left, right, labelsAt: left + TC * cell, height: top + T * cell + 42 };
  }

  function place(kind) {
    return { x: kind === "masked" ? geometry.left : geometry.right, y: geometry.top, cell: geometry.cell };
  }

  function drawTitles(context) {
    context.font = `600 15px ${SANS}`;
    context.textAlign = "left";
    const { left, right, width, labelsAt, middle, top } = geometry;
    for (const [kind, x, room] of [["masked", left, right - left - 20], ["cross", right, width - right]]) {
      context.fillStyle = theme[kind];
      context.fillText(fitted(context, `${theme.marks[kind]} ${maps[kind].title}`, room), x, 16);
    }
    context.font = `11px ${CODE}`;
    context.fillStyle = theme.soft;
    context.textAlign = "center";
    context.fillText("read → predicts", labelsAt + middle / 2, top - 10);
  }

  function drawUnmarked(context) {
    drawTitles(context);
    for (const kind of SIDES) {
      const at = place(kind);
      const width = Math.min(240, Math.max(90, maps[kind].columns.length * at.cell - 8));
      const below = at.y + T * at.cell + 12;
      drawMatrix(context, theme, maps[kind], numbers[kind], at, linear);
      if (maps[kind].stage.name === "mask") drawZeros(context, kind, at);
      else drawScale(context, theme, maps[kind], at.x, below, width, linear);
    }
    drawAnswers(context);
  }

  function drawZeros(context, kind, { x, y, cell }) {
    if (cell < 14) return;
    const columns = maps[kind].columns.length;
    context.font = `${cell >= 20 ? 13 : 11}px ${CODE}`;
    context.textAlign = "center";
    context.fillStyle = theme.soft;
    numbers[kind].open.forEach((open, at) => {
      if (open) context.fillText("0", x + ((at % columns) + 0.5) * cell - 1, y + (Math.floor(at / columns) + 0.5) * cell + 4);
    });
  }

  // With the mask lifted: the cell that holds the very token which its row is to predict.
  function drawAnswers(context) {
    const { x, y, cell } = place("masked");
    context.fillStyle = theme.ink;
    header.next.forEach((column, row) => {
      if (column < 0) return;
      context.beginPath();
      context.arc(x + (column + 0.5) * cell - 1, y + (row + 0.5) * cell - 1, Math.max(1.5, cell * 0.13), 0, 7);
      context.fill();
    });
  }

  function drawMiddle(context) {
    const { side, top, cell, labelsAt, middle } = geometry;
    const centre = labelsAt + middle / 2;
    const { every, size } = lettering(T, cell);
    for (let row = 0; row < T; row++) {
      const current = row === step - 1;
      if (!labelled(row, every, step - 1)) continue;
      context.font = `${current ? "600 " : ""}${size}px ${CODE}`;
      context.fillStyle = current ? theme.ink : theme.soft;
      const y = top + (row + 0.5) * cell + 4;
      context.textAlign = "right";
      context.fillText(fitted(context, maps.masked.rows[row], side), centre - 12, y);
      context.textAlign = "center";
      context.fillText("→", centre, y);
      context.textAlign = "left";
      context.fillText(fitted(context, maps.masked.predicts[row], side), centre + 12, y);
    }
  }

  function markCell(context, target, line) {
    const { x, y, cell } = place(target.kind);
    const gap = cell >= 9 ? 2 : cell >= 5 ? 1 : 0;
    outline(context, theme, x + target.column * cell - 1, y + target.row * cell - 1, cell + 2 - gap, cell + 2 - gap, line);
  }

  function drawMatrices() {
    const context = sized(canvas, geometry.width, geometry.height);
    geometry.base ??= prepared(geometry.width, geometry.height, drawUnmarked);
    context.drawImage(geometry.base, 0, 0, geometry.width, geometry.height);
    for (const kind of SIDES) {
      const focus = [hovered, pinned].find((target) => target && target.kind === kind);
      dimOtherRows(context, theme, place(kind), numbers[kind].weights.shape, step - 1);
      drawColumnLabels(context, theme, maps[kind].columns, place(kind), { marked: focus ? focus.column : null, room: geometry.top - 44 });
    }
    drawMiddle(context);
    const { left, right, labelsAt, middle, top, cell } = geometry;
    const y = top + (step - 1) * cell - 2;
    if (cell >= 9) outline(context, theme, left - 1, y, right + S * cell - left + 1, cell + 2, 2);
    else {
      // Rows thinner than a letter: the label stands free between the two outlined rows.
      outline(context, theme, left - 1, y, labelsAt - left + 2, cell + 4, 1.5);
      outline(context, theme, labelsAt + middle - 1, y, S * cell + 2, cell + 4, 1.5);
    }
    if (hovered) markCell(context, hovered, 1);
    if (pinned) markCell(context, pinned, 2.5);
  }

  function redraw() {
    if (!geometry) return;
    const narrow = geometry.width < 600 && window.innerWidth < NARROW;
    canvas.style.display = narrow ? "none" : "block";
    if (!narrow) drawMatrices();
    const focus = hovered ?? pinned;
    reading.style.display = narrow && !pinned ? "none" : "block";
    reading.textContent = focus
      ? `${say(maps[focus.kind], numbers[focus.kind], focus.row, focus.column)} `
      : forHand("Point at a cell to read it; click to pin it and stop at its row.");
    if (header.door && pinned && focus === pinned) reading.append(door);
    aloud.textContent = pinned ? `Pinned: ${say(maps[pinned.kind], numbers[pinned.kind], pinned.row, pinned.column)}` : "";
    slider.value = String(step);
    slider.setAttribute("aria-valuetext", `having read ${maps.masked.rows[step - 1]}, predicting ${maps.masked.predicts[step - 1]}`);
    where.textContent = `step ${step} of ${T}`;
    cards.replaceChildren(card("masked", step - 1, narrow), card("cross", step - 1, narrow), card("encoder", arrays.leans[step - 1], narrow));
  }

  function card(kind, row, narrow) {
    const map = maps[kind];
    const box = element("div", { class: "card", "data-kind": kind });
    const line = element("p");
    const soft = (text) => element("span", { class: "soft" }, text);
    const token = (text) => element("span", { class: "token" }, text);
    const looking = { masked: "looking back", cross: "looking across", encoder: "what it found there" }[kind];
    const name = element("span", { class: "kind" }, `${theme.marks[kind]} ${looking}`);
    name.style.color = theme[kind];
    line.append(name);
    if (kind === "encoder") line.append(soft("  the word it leaned on most, "), token(map.rows[row]), soft(`, had itself looked at (layer ${map.layer}, ${map.head})`));
    else line.append(soft("  having read "), token(map.rows[row]), soft(", about to write "), token(map.predicts[row]));
    if (kind === "masked") line.append(soft(` (probability ${number(arrays.probabilities[row])})`));
    box.append(line, kind === "encoder" || !narrow ? strongest(kind, row) : whole(kind, row));
    const { entropy, marks } = numbers[kind];
    box.append(element("p", { class: "soft small" }, `entropy ${entropy[row].toFixed(2)} of at most ${Math.log2(possible(kind, row)).toFixed(2)} bits · on ${header.marks} ${number(marks[row])}`));
    return box;
  }

  function possible(kind, row) {
    const width = maps[kind].columns.length;
    return Math.max(1, numbers[kind].allowed.subarray(row * width, (row + 1) * width).reduce((sum, one) => sum + one, 0));
  }

  function marked(kind, row) {
    return pinned && pinned.kind === kind && pinned.row === row ? pinned.column : null;
  }

  function whole(kind, row) {
    const onPick = (column) => pin(marked(kind, row) === column ? null : { kind, row, column });
    const plain = { weights: numbers[kind].weights, allowed: numbers[kind].allowed };
    const holder = strip(theme, maps[kind], plain, row, { linear, marked: marked(kind, row), onPick });
    const hidden = maps[kind].columns.length - possible(kind, row);
    if (!hidden) return holder;
    holder.querySelectorAll(".forbidden").forEach((bar) => bar.remove()); // the other attention would be far below them
    holder.append(element("p", { class: "soft small hidden-count" }, `−∞ for ${hidden === 1 ? "1 token" : `${hidden} tokens`} that the mask hides`));
    return holder;
  }

  // The few tokens that hold most of the row, as bars.
  function strongest(kind, row) {
    const map = maps[kind];
    const width = map.columns.length;
    const { weights, allowed } = numbers[kind];
    const kept = map.columns.map((_, column) => column).filter((column) => allowed[row * width + column]);
    kept.sort((a, b) => weights[row * width + b] - weights[row * width + a]);
    kept.splice(4);
    const few = { ...map, columns: kept.map((column) => map.columns[column]), rows: [map.rows[row]], predicts: map.predicts ? [map.predicts[row]] : null };
    const part = { weights: Float32Array.from(kept, (column) => weights[row * width + column]), allowed: Uint8Array.from(kept, () => 1) };
    const onPick = (index) => kind !== "encoder" && pin({ kind, row, column: kept[index] });
    return strip(theme, few, part, 0, { linear, marked: kept.indexOf(marked(kind, row)), onPick });
  }

  function under(event) {
    const [px, py] = pointed(event, canvas);
    const row = Math.floor((py - geometry.top) / geometry.cell);
    if (row < 0 || row >= T) return null;
    for (const kind of SIDES) {
      const column = Math.floor((px - place(kind).x) / geometry.cell);
      if (column >= 0 && column < maps[kind].columns.length) return { kind, row, column };
    }
    return { kind: null, row, column: null };
  }

  // Left and right walk through the step's cells, from the masked side into the cross side.
  function across(by) {
    const from = hovered ?? pinned;
    const at = !from ? -1 : from.kind === "masked" ? from.column : TC + from.column;
    const to = at < 0 ? 0 : bounded(at + by, 0, TC + S - 1);
    hovered = to < TC ? { kind: "masked", row: step - 1, column: to } : { kind: "cross", row: step - 1, column: to - TC };
    redraw();
  }

  function down(by) {
    if (hovered) hovered = { ...hovered, row: bounded(step - 1 + by, 0, T - 1) };
    go(step + by);
  }

  // Beside the two matrices there is a row, but no cell.
  function point(found) {
    const next = found?.kind ? found : null;
    if (alike(next, hovered)) return;
    hovered = next;
    redraw();
  }

  function choose(found) {
    if (found.kind) pin(alike(found, pinned) ? null : found);
    else go(found.row + 1, { rest: 0 });
  }

  onPointer(canvas, under, point, choose);
  onKeys(canvas, {
    ArrowUp: () => down(-1),
    ArrowDown: () => down(1),
    ArrowLeft: () => across(-1),
    ArrowRight: () => across(1),
    Enter: () => (hovered ? pin({ ...hovered }) : false),
    Escape: () => (pinned ? pin(null) : point(null)),
    " ": () => play.click(),
  });
  slider.addEventListener("input", () => go(Number(slider.value)));
  if (root.untold) resting = setTimeout(tell, REST);

  const stop = onWidth(root, (width) => {
    geometry = measure(width);
    redraw();
  });
  return () => {
    stop();
    clearInterval(playing);
    clearTimeout(resting);
  };
}
