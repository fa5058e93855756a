// Lines over one axis. Hover reads them at one x, click picks it, arrow keys move, Esc releases.

const LABEL = 15; // pixels that one name at the end of its line needs
const ALL_READ = 6; // so many lines are read together; of more, the one nearest to the pointer
const WIDE = 440; // from here on names stand at the ends of the lines

export default function ({ data, parentElement, setTriggerValue }) {
  const { header, arrays } = unpack(data);
  const { theme, series, log, height } = header;
  const lines = series.map((line, n) => ({ ...line, x: arrays[`x${n}`], y: arrays[`y${n}`] }));
  const xs = Array.from(new Set(lines.flatMap((line) => Array.from(line.x)))).sort((one, other) => one - other);
  const labels = new Map(header.labels);
  const [yLeast, yMost, yTicks] = limits();
  const root = freshRoot(parentElement, theme);
  let picked = header.marked === null ? null : nearestX(header.marked);
  let hovered = null;
  let line = 0; // which is read, where they are too many to read all
  let geometry = null;

  const canvas = element("canvas", { tabindex: "0", role: "application", "data-marker": "curves" });
  canvas.setAttribute("aria-label", `${header.yTitle} by ${header.xTitle}: ${lines.map((l) => l.name).join(", ")}. Arrow keys move, Enter picks.`);
  const legend = element("div", { class: "legend" });
  const reading = element("p", { class: "reading", "aria-live": "polite" });
  root.append(legend, canvas, reading);

  const focus = () => hovered ?? picked;
  const few = lines.length <= ALL_READ;

  // Where the axis of y begins and ends, and its round ticks.
  function limits() {
    const values = lines.flatMap((l) => Array.from(l.y)).filter(Number.isFinite);
    let [least, most] = header.range ?? [Math.min(...values), Math.max(...values)];
    if (log) return [...[Math.floor, Math.ceil].map((round, n) => 10 ** round(Math.log10([least, most][n]) + (n ? 1e-6 : -1e-6))), null];
    if (!header.range) {
      if (least === most) [least, most] = [Math.min(0, least), most === 0 ? 1 : Math.max(0, most)];
      if (least > 0 && least < 0.5 * most) least = 0;
      const step = roundStep(least, most, 5);
      [least, most] = [Math.floor(least / step + 1e-6) * step, Math.ceil(most / step - 1e-6) * step];
    }
    return [least, most, roundTicks(least, most, 5)];
  }

  function nearestX(x) {
    return xs.reduce((best, one) => (Math.abs(one - x) < Math.abs(best - x) ? one : best));
  }

  function measure(width) {
    const context = canvas.getContext("2d");
    context.font = `11px ${CODE}`;
    const ticks = yTicks ?? powers();
    const texts = header.labels.map(([, text]) => context.measureText(text).width);
    const beside = Math.max(...ticks.map(([, text]) => context.measureText(text).width)) + 12;
    context.font = `13px ${SANS}`;
    const longest = Math.max(...lines.map((l) => context.measureText(l.name).width));
    const atEnds = width >= WIDE && longest < width * 0.34 && lines.length * LABEL <= height - 80;
    const halves = [texts[0] ?? 0, texts[texts.length - 1] ?? 24].map((n) => n / 2 + 2); // of what stands below both ends
    const slanted = Math.max(0, ...texts) > (width - beside - halves[1]) / Math.max(1, texts.length) - 6;
    const right = Math.max(atEnds && longest ? longest + 18 : 12, slanted ? 0 : halves[1]);
    const bottom = slanted ? Math.min(96, 0.8 * Math.max(...texts) + 16) + 22 : 42;
    const left = Math.max(beside, slanted ? backwards(texts, (width - beside - right) / texts.length, (bottom - 34) / 0.8) : halves[0]);
    return { width, left, right, top: 34, bottom, ticks, atEnds, slanted };
  }

  // How far the slanted names of the first places reach to the left of the picture.
  function backwards(texts, apart, most) {
    return Math.max(...texts.map((text, n) => Math.cos(SLANT) * Math.min(text, most) - n * apart + 2));
  }

  function powers() {
    const from = Math.round(Math.log10(yLeast));
    return Array.from({ length: Math.round(Math.log10(yMost)) - from + 1 }, (_, n) => [10 ** (from + n), String(Number((10 ** (from + n)).toPrecision(1)))]);
  }

  function atX(x) {
    const { width, left, right } = geometry;
    const span = xs[xs.length - 1] - xs[0];
    return span ? left + ((x - xs[0]) / span) * (width - left - right) : (left + width - right) / 2;
  }

  function atY(y) {
    const { top, bottom } = geometry;
    const share = log ? Math.log(y / yLeast) / Math.log(yMost / yLeast) : (y - yLeast) / (yMost - yLeast);
    return height - bottom - share * (height - top - bottom);
  }

  function drawBase(context) {
    const { width, left, right, top, ticks } = geometry;
    context.font = `11px ${CODE}`;
    context.textAlign = "right";
    for (const [value, text] of ticks) {
      context.fillStyle = value === 0 ? theme.chrome : theme.line;
      context.fillRect(left, Math.round(atY(value)), width - left - right, 1);
      context.fillStyle = theme.soft;
      context.fillText(text, left - 6, atY(value) + 4);
    }
    context.textAlign = "left";
    context.font = `13px ${SANS}`;
    context.fillText(fitted(context, header.yTitle, width), 0, 14);
    context.textAlign = "right";
    context.fillText(header.xTitle, width - right, height - 6);
    drawTicksOfX(context);
    drawNotes(context);
    if (few) lines.forEach((_, n) => drawLine(context, n, 1));
    if (geometry.atEnds) drawNames(context);
  }

  function drawTicksOfX(context) {
    const { width, left, right, bottom, slanted } = geometry;
    const whole = xs.every(Number.isInteger);
    const every = stride(header.labels.length, (width - left - right) / Math.max(1, header.labels.length), slanted ? 13 : 8);
    const ticks = header.labels.length
      ? header.labels.filter((_, n) => n % every === 0)
      : roundTicks(xs[0], xs[xs.length - 1], Math.max(2, (width - left - right) / 90), whole ? 1 : 0);
    context.font = `11px ${CODE}`;
    context.textAlign = slanted ? "right" : "center";
    for (const [value, text] of ticks) {
      context.fillStyle = theme.line;
      context.fillRect(atX(value), height - bottom, 1, 5);
      context.fillStyle = theme.soft;
      context.save();
      context.translate(atX(value) + (slanted ? 4 : 0), height - bottom + 18 - (slanted ? 4 : 0));
      if (slanted) context.rotate(-SLANT);
      context.fillText(fitted(context, text, slanted ? (bottom - 34) / 0.8 : width), 0, 0);
      context.restore();
    }
  }

  function drawNotes(context) {
    const { width, right, top, bottom } = geometry;
    context.font = `12px ${SANS}`;
    for (const [x, text] of header.notes) {
      const at = atX(x);
      const room = width - right - at - 6;
      const onRight = context.measureText(text).width <= room || at < width / 2;
      dashedRule(context, at, top, height - bottom);
      context.fillStyle = theme.soft;
      context.textAlign = onRight ? "left" : "right";
      context.fillText(fitted(context, text, onRight ? room : at), at + (onRight ? 0 : 1), top - 5);
    }
  }

  function dashedRule(context, at, top, bottom) {
    context.strokeStyle = theme.chrome;
    context.lineWidth = 1;
    context.setLineDash([3, 4]);
    context.beginPath();
    context.moveTo(at, top);
    context.lineTo(at, bottom);
    context.stroke();
    context.setLineDash([]);
  }

  function drawLine(context, n, alpha) {
    const { colour, dashed, dots, strength, x, y } = lines[n];
    context.strokeStyle = context.fillStyle = colour;
    context.globalAlpha = alpha * strength;
    context.lineWidth = 2;
    context.lineJoin = "round";
    context.setLineDash(dashed ? [6, 4] : []);
    context.beginPath();
    let drawing = false;
    y.forEach((value, i) => {
      if (Number.isFinite(value)) context[drawing ? "lineTo" : "moveTo"](atX(x[i]), atY(value));
      drawing = Number.isFinite(value);
    });
    context.stroke();
    context.setLineDash([]);
    if (dots || x.length === 1) y.forEach((value, i) => Number.isFinite(value) && dot(context, atX(x[i]), atY(value), 3));
    context.globalAlpha = 1;
  }

  function dot(context, x, y, radius) {
    context.beginPath();
    context.arc(x, y, radius, 0, 2 * Math.PI);
    context.fill();
  }

  // Names at the ends of their lines, pushed apart where they would touch.
  function drawNames(context) {
    const { width, right, top, bottom } = geometry;
    const last = (l) => l.y.findLast(Number.isFinite) ?? yLeast;
    const ends = lines.map((l) => ({ ...l, at: atY(last(l)) })).sort((one, other) => one.at - other.at);
    ends.forEach((end, n) => (end.at = Math.max(end.at, n ? ends[n - 1].at + LABEL : top)));
    ends.reverse().forEach((end, n) => (end.at = Math.min(end.at, n ? ends[n - 1].at - LABEL : height - bottom)));
    context.font = `13px ${SANS}`;
    context.textAlign = "left";
    for (const { name, colour, at } of ends) {
      context.fillStyle = colour === theme.chrome ? theme.soft : colour; // chrome is too faint for text
      context.fillText(name, width - right + 8, at + 4);
    }
  }

  function fillLegend() {
    legend.replaceChildren();
    const looks = new Set(lines.map(({ colour, dashed, strength }) => `${colour} ${dashed} ${strength}`));
    if (geometry.atEnds || looks.size < Math.min(2, lines.length) || (lines.length === 1 && !lines[0].name)) return;
    for (const { name, colour, dashed, strength } of lines) {
      const item = element("span", {}, name);
      const mark = element("i");
      mark.style.borderTop = `3px ${dashed ? "dashed" : "solid"} ${colour}`;
      mark.style.opacity = strength;
      item.prepend(mark);
      legend.append(item);
    }
  }

  function redraw() {
    if (!geometry) return;
    const context = sized(canvas, geometry.width, height);
    geometry.base ??= prepared(geometry.width, height, drawBase);
    context.drawImage(geometry.base, 0, 0, geometry.width, height);
    const x = focus();
    if (!few) lines.forEach((_, n) => n !== line && drawLine(context, n, x === null ? 1 : 0.25));
    if (!few) drawLine(context, line, 1);
    for (const [at, width] of [[hovered, 1], [picked, 2]]) {
      if (at === null) continue;
      context.fillStyle = theme.ink;
      context.fillRect(atX(at) - width / 2, geometry.top, width, height - geometry.top - geometry.bottom);
    }
    if (x !== null) for (const [n, value] of values(x)) drawValue(context, lines[n].colour, atX(x), atY(value));
    reading.textContent = x === null ? hint() : say(x);
  }

  function drawValue(context, colour, x, y) {
    context.fillStyle = theme.background;
    dot(context, x, y, 6);
    context.fillStyle = colour;
    dot(context, x, y, 4);
  }

  // [which line, its y] of every line that is read at this x.
  function values(x) {
    return lines
      .map((l, n) => [n, l.y[l.x.indexOf(x)]])
      .filter(([n, value]) => Number.isFinite(value) && (few || n === line));
  }

  function say(x) {
    const told = values(x).map(([n, value]) => `${lines[n].name}: ${signed(value)}`.replace(/^: /, ""));
    const where = labels.get(x) ?? signedShort(x);
    return fill(header.sentence, { x: where, x_title: header.xTitle, y_title: header.yTitle, values: told.join(" · ") || "nothing here" });
  }

  function hint() {
    return forHand(`Point at the picture to read ${few && lines.length > 1 ? "all lines at one place" : "a value"}; arrow keys move.`);
  }

  function signedShort(value) {
    return String(Number(value.toPrecision(6))).replace("-", "−");
  }

  function pick(x) {
    if (x === null && header.stays) return;
    picked = x;
    setTriggerValue("pick", { x });
    redraw();
  }

  function point(x, chosen = line) {
    if (x === hovered && chosen === line) return;
    [hovered, line] = [x, chosen];
    redraw();
  }

  function under(event) {
    const { width, left, right } = geometry;
    const [px, py] = pointed(event, canvas);
    const x = nearestX(xs[0] + ((px - left) / (width - left - right)) * (xs[xs.length - 1] - xs[0]));
    const distance = (l) => Math.abs(atY(l.y[l.x.indexOf(x)]) - py);
    const nearest = few ? line : lines.reduce((best, l, n) => (distance(l) < distance(lines[best]) || Number.isNaN(distance(lines[best])) ? n : best), 0);
    return [x, nearest];
  }

  onPointer(canvas, under, (found) => (found ? point(...found) : point(null)), ([x]) => pick(x === picked && !header.stays ? null : x));
  onKeys(canvas, {
    ArrowLeft: () => step(-1),
    ArrowRight: () => step(1),
    ArrowUp: () => point(focus() ?? xs[0], (line - 1 + lines.length) % lines.length),
    ArrowDown: () => point(focus() ?? xs[0], (line + 1) % lines.length),
    Enter: () => focus() !== null && pick(focus()),
    Escape: () => (picked === null || header.stays ? point(null) : pick(null)),
  });

  function step(across) {
    const at = focus() === null ? 0 : xs.indexOf(focus()) + across;
    point(xs[bounded(at, 0, xs.length - 1)]);
  }

  return onWidth(root, (width) => {
    geometry = measure(width);
    fillLegend();
    reserve(reading, xs.map(say));
    redraw();
  });
}

function roundStep(least, most, count, smallest = 0) {
  const raw = Math.max((most - least) / count, smallest, Number.MIN_VALUE);
  const power = 10 ** Math.floor(Math.log10(raw));
  return power * [1, 2, 5, 10].find((n) => n * power >= raw * (1 - 1e-9));
}

// About `count` round numbers from `least` to `most`, each with its text.
function roundTicks(least, most, count, smallest = 0) {
  const step = roundStep(least, most, count, smallest);
  const decimals = Math.max(0, -Math.floor(Math.log10(step) + 1e-9));
  const ticks = [];
  for (let n = Math.ceil(least / step - 1e-6); n * step <= most + step * 1e-6; n++) {
    ticks.push([n === 0 ? 0 : n * step, (n * step).toFixed(Math.min(decimals, 20)).replace("-", "−")]);
  }
  return ticks;
}
