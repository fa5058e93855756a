// Masked and cross-attention side by side over the same rows, with all steps of the translation in hand.
// Hover, arrow keys, slider and play run here; Python hears where it stopped.

export default function ({ data, parentElement, setTriggerValue }) {
  const { header, arrays } = unpack(data);
  const { theme, masked, cross, linear } = header;
  const numbers = {
    masked: { weights: arrays.masked_weights, allowed: arrays.masked_allowed },
    cross: { weights: arrays.cross_weights, allowed: arrays.cross_allowed },
  };
  const maps = { masked, cross };
  const [T, S] = arrays.cross_weights.shape;
  const root = freshRoot(parentElement, theme);
  let step = Math.max(1, Math.min(T, header.step));
  let hovered = null; // {kind, row, column}
  let pinned = null;
  let playing = null;
  let resting = null;
  let geometry = null;

  const canvas = element("canvas", { tabindex: "0", role: "application", "data-marker": "pair" });
  canvas.setAttribute("aria-label", `Masked attention ${T} by ${T}, cross-attention ${T} by ${S}. Up and down arrows change the step.`);
  const reading = element("p", { class: "reading" });
  const steps = element("div", { class: "steps" });
  const play = button("▶", "play the translation", () => (playing ? stopPlaying() : startPlaying()));
  const slider = element("input", { type: "range", min: "1", max: String(T), step: "1", "aria-label": "step of the translation" });
  const where = element("span", { "data-marker": "step" });
  steps.append(play, slider, where);
  const cards = element("div", { class: "pair" });
  const aloud = element("p", { class: "hidden", "aria-live": "polite", "data-marker": "pinned" });
  root.append(canvas, reading, steps, cards, aloud);

  function go(next, { rest = REST } = {}) {
    next = Math.max(1, Math.min(T, next));
    if (next === step) return;
    step = next;
    redraw();
    clearTimeout(resting);
    if (!playing) resting = setTimeout(() => setTriggerValue("step", step), rest);
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
    setTriggerValue("step", step);
  }

  function measure(width) {
    const context = canvas.getContext("2d");
    context.font = `13px ${CODE}`;
    const longest = (labels) => Math.max(...labels.map((label) => context.measureText(label).width));
    const side = Math.min(Math.max(longest(masked.rows), longest(masked.predicts)) + 8, 120, width * 0.13);
    const middle = 2 * side + 44;
    const top = Math.min(longest([...masked.columns, ...cross.columns]) * 0.8 + 22, 112) + 30;
    const slack = Math.min(70, top * 0.6);
    const cell = Math.max(1, Math.min(34, Math.max(20, 480 / T), (width - middle - slack - 4) / (T + S)));
    const left = 2;
    const right = left + T * cell + middle;
    return { width, side, middle, top, cell, left, right, labelsAt: left + T * cell, height: top + T * cell + 42 };
  }

  function drawTitles(context) {
    context.font = `600 15px ${SANS}`;
    context.textAlign = "left";
    const { left, right, width, labelsAt, middle } = geometry;
    const roomy = right - left - 20;
    context.fillStyle = theme.masked;
    context.fillText(fitted(context, `${theme.marks.masked} masked: queries, keys, values from the decoder`, roomy), left, 16);
    context.fillStyle = theme.cross;
    context.fillText(fitted(context, `${theme.marks.cross} cross: queries from the decoder, keys and values from the encoder`, width - right), right, 16);
    context.font = `11px ${CODE}`;
    context.fillStyle = theme.soft;
    context.textAlign = "center";
    context.fillText("read → predicts", labelsAt + middle / 2, geometry.top - 10);
  }

  function drawUnmarked(context) {
    drawTitles(context);
    for (const kind of ["masked", "cross"]) {
      const at = place(kind);
      const width = maps[kind].columns.length * at.cell;
      drawMatrix(context, theme, maps[kind], numbers[kind], at, linear);
      drawScale(context, theme, kind, at.x, at.y + T * at.cell + 12, Math.min(240, Math.max(90, width - 8)), linear);
    }
  }

  function drawMiddle(context) {
    const { side, top, cell, labelsAt, middle } = geometry;
    const centre = labelsAt + middle / 2;
    const every = stride(T, cell, 12);
    for (let row = 0; row < T; row++) {
      if (row % every && row !== step - 1) continue;
      const current = row === step - 1;
      context.font = `${current ? "600 " : ""}${cell >= 17 ? 13 : 11}px ${CODE}`;
      context.fillStyle = current ? theme.ink : theme.soft;
      const y = top + (row + 0.5) * cell + 4;
      context.textAlign = "right";
      context.fillText(fitted(context, masked.rows[row], side), centre - 12, y);
      context.textAlign = "center";
      context.fillText("→", centre, y);
      context.textAlign = "left";
      context.fillText(fitted(context, masked.predicts[row], side), centre + 12, y);
    }
  }

  function place(kind) {
    return { x: kind === "masked" ? geometry.left : geometry.right, y: geometry.top, cell: geometry.cell };
  }

  function markCell(context, target, line) {
    const { x, y, cell } = place(target.kind);
    const gap = cell >= 9 ? 2 : cell >= 5 ? 1 : 0;
    outline(context, theme, x + target.column * cell - 1, y + target.row * cell - 1, cell + 2 - gap, cell + 2 - gap, line);
  }

  function redraw() {
    if (!geometry) return;
    const narrow = geometry.width < 600 && window.innerWidth < NARROW;
    canvas.style.display = narrow ? "none" : "block";
    if (!narrow) {
      const context = sized(canvas, geometry.width, geometry.height);
      geometry.base ??= prepared(geometry.width, geometry.height, drawUnmarked);
      context.drawImage(geometry.base, 0, 0, geometry.width, geometry.height);
      for (const kind of ["masked", "cross"]) {
        const focus = [hovered, pinned].find((target) => target && target.kind === kind);
        const column = focus ? focus.column : null;
        dimOtherRows(context, theme, place(kind), numbers[kind].weights.shape, step - 1);
        drawColumnLabels(context, theme, maps[kind].columns, place(kind), { marked: column, room: geometry.top - 44 });
      }
      drawMiddle(context);
      const { left, right, top, cell } = geometry;
      outline(context, theme, left - 1, top + (step - 1) * cell - 2, right + S * cell - left + 1, cell + 2, 2);
      if (hovered) markCell(context, hovered, 1);
      if (pinned) markCell(context, pinned, 2.5);
    }
    const focus = hovered ?? pinned;
    reading.style.display = narrow ? "none" : "block";
    reading.textContent = focus
      ? say(maps[focus.kind], numbers[focus.kind], focus.row, focus.column)
      : "Point at a cell to read it; click a row to stop there.";
    aloud.textContent = pinned ? `Pinned: ${say(maps[pinned.kind], numbers[pinned.kind], pinned.row, pinned.column)}` : "";
    slider.value = String(step);
    slider.setAttribute("aria-valuetext", `having read ${masked.rows[step - 1]}, predicting ${masked.predicts[step - 1]}`);
    where.textContent = `step ${step} of ${T}`;
    drawCards(narrow);
  }

  function drawCards(narrow) {
    cards.replaceChildren(card("masked", narrow), card("cross", narrow));
  }

  function card(kind, narrow) {
    const map = maps[kind];
    const row = step - 1;
    const box = element("div", { class: "card" });
    const line = element("p");
    const name = element("span", { class: "kind" }, `${theme.marks[kind]} looking ${kind === "masked" ? "back" : "across"}`);
    name.style.color = theme[kind];
    line.append(name, element("span", { class: "soft" }, "  having read "), element("span", { class: "token" }, map.rows[row]));
    line.append(element("span", { class: "soft" }, ", about to write "), element("span", { class: "token" }, map.predicts[row]));
    if (kind === "masked") line.append(element("span", { class: "soft" }, ` (probability ${number(arrays.probabilities[row])})`));
    box.append(line);
    const onPick = (column) => {
      pinned = { kind, row, column };
      redraw();
    };
    const marked = pinned && pinned.kind === kind && pinned.row === row ? pinned.column : null;
    if (narrow) box.append(strip(theme, map, numbers[kind], row, { linear, marked, onPick }));
    else box.append(strongest(kind, row));
    return box;
  }

  // The few tokens that hold most of the row, as bars.
  function strongest(kind, row) {
    const map = maps[kind];
    const width = map.columns.length;
    const order = map.columns.map((_, column) => column).sort((a, b) => numbers[kind].weights[row * width + b] - numbers[kind].weights[row * width + a]);
    const kept = order.filter((column) => numbers[kind].allowed[row * width + column]).slice(0, 4);
    const part = {
      weights: Float32Array.from(kept, (column) => numbers[kind].weights[row * width + column]),
      allowed: Uint8Array.from(kept, () => 1),
    };
    const few = { ...map, columns: kept.map((column) => map.columns[column]), rows: [map.rows[row]], predicts: [map.predicts[row]] };
    const onPick = (index) => {
      pinned = { kind, row, column: kept[index] };
      redraw();
    };
    const marked = pinned && pinned.kind === kind && pinned.row === row ? kept.indexOf(pinned.column) : null;
    return strip(theme, few, part, 0, { linear, marked, onPick });
  }

  function under(event) {
    const [px, py] = pointed(event, canvas);
    const row = Math.floor((py - geometry.top) / geometry.cell);
    if (row < 0 || row >= T) return null;
    for (const kind of ["masked", "cross"]) {
      const column = Math.floor((px - place(kind).x) / geometry.cell);
      if (column >= 0 && column < maps[kind].columns.length) return { kind, row, column };
    }
    return { kind: null, row, column: null };
  }

  canvas.addEventListener("pointermove", (event) => {
    const found = under(event);
    const next = found && found.kind ? found : null;
    if (JSON.stringify(next) === JSON.stringify(hovered)) return;
    hovered = next;
    redraw();
  });
  canvas.addEventListener("pointerleave", () => {
    hovered = null;
    redraw();
  });
  canvas.addEventListener("click", (event) => {
    const found = under(event);
    if (!found) return;
    const same = pinned && found.kind && JSON.stringify(pinned) === JSON.stringify(found);
    pinned = same || !found.kind ? null : found;
    go(found.row + 1, { rest: 0 });
    redraw();
  });
  canvas.addEventListener("keydown", (event) => {
    if (event.key === "ArrowUp" || event.key === "ArrowLeft") go(step - 1);
    else if (event.key === "ArrowDown" || event.key === "ArrowRight") go(step + 1);
    else if (event.key === "Escape") {
      pinned = null;
      redraw();
    } else if (event.key === " ") play.click();
    else return;
    event.preventDefault();
  });
  slider.addEventListener("input", () => go(Number(slider.value)));

  const stop = onWidth(root, (width) => {
    geometry = measure(width);
    redraw();
  });
  whenFontsAreReady(() => {
    if (geometry) geometry = measure(geometry.width);
    redraw();
  });
  return () => {
    stop();
    clearInterval(playing);
    clearTimeout(resting);
  };
}
