// Two sentences, and a line from each German word to the English word that it leans on most. Hover reads, click pins.

export default function ({ data, parentElement, setTriggerValue }) {
  const { header, arrays } = unpack(data);
  const { theme, source, target, found, verdicts, missed, most } = header;
  const [T, S] = arrays.strength.shape;
  const root = freshRoot(parentElement, theme);
  const nothing = { target: null, source: null };
  let pinned = { target: header.pinned[0], source: header.pinned[1] };
  let hovered = null;
  let place = null; // where each word stands, once the width is known

  const canvas = element("canvas", { tabindex: "0", role: "application", "data-marker": "alignment" });
  canvas.setAttribute(
    "aria-label",
    `Word alignment: ${T} German words, ${S} English words. Arrow keys move, Enter pins, Escape releases.`,
  );
  const legend = element("p", { class: "legend", "data-marker": "verdicts" });
  for (const [line, meaning] of header.legend) {
    const item = element("span");
    item.append(element("span", { class: "token" }, line), ` ${meaning}`);
    legend.append(item);
  }
  const reading = element("p", { class: "reading" });
  const aloud = element("p", { class: "hidden", "aria-live": "polite", "data-marker": "pinned" });
  root.append(canvas, reading, ...(header.legend.length ? [legend] : []), aloud);

  const focus = () => hovered ?? pinned;
  const strength = (t, s) => arrays.strength[t * S + s];
  const shown = (value) => (header.by === "weight" ? number(value) : digits(value));

  function say({ target: t, source: s }) {
    if (t !== null && s !== null) return fill(header.ofBoth, { target: target[t], source: source[s], value: shown(strength(t, s)) });
    if (t !== null) return header.ofTarget[t];
    return s === null ? "" : header.ofSource[s];
  }

  // Side by side in two lines where they fit, else in two columns.
  function measure(width) {
    const context = canvas.getContext("2d");
    for (let size = 20; size >= 14; size -= 1) {
      context.font = `${size}px ${SANS}`;
      const widths = (words) => words.map((word) => Math.max(34, context.measureText(word).width) + 16);
      const [above, below] = [widths(source), widths(target)];
      const total = (list) => list.reduce((sum, one) => sum + one, 0);
      if (Math.max(total(above), total(below)) > width) continue;
      const middles = (list) => list.map((one, index) => total(list.slice(0, index)) + one / 2);
      return { width, height: 232, size, wide: true, above: middles(above), below: middles(below) };
    }
    const step = Math.max(S, T) > 30 ? 22 : 28;
    const down = (count) => Array.from({ length: count }, (_, index) => 20 + index * step);
    return { width: Math.min(width, 640), height: 20 + Math.max(S, T) * step, size: 15, wide: false, above: down(S), below: down(T) };
  }

  const ends = (s, t) =>
    place.wide ? [place.above[s], 58, place.below[t], 170] : [place.width * 0.37, place.above[s], place.width * 0.63, place.below[t]];

  function drawLine(context, s, t, { width = 1.5, alpha = 1, colour = theme.cross, dash = [], mark = null }) {
    const [x1, y1, x2, y2] = ends(s, t);
    const [middleX, middleY] = [(x1 + x2) / 2, (y1 + y2) / 2];
    context.strokeStyle = colour;
    context.globalAlpha = alpha;
    context.lineWidth = width;
    context.setLineDash(dash);
    context.beginPath();
    context.moveTo(x1, y1);
    if (place.wide) context.bezierCurveTo(x1, middleY, x2, middleY, x2, y2);
    else context.bezierCurveTo(middleX, y1, middleX, y2, x2, y2);
    context.stroke();
    context.setLineDash([]);
    if (mark) {
      context.fillStyle = theme.background;
      context.beginPath();
      context.arc(middleX, middleY, 8, 0, 2 * Math.PI);
      context.fill();
      context.fillStyle = theme.ink;
      context.font = `15px ${CODE}`;
      context.textAlign = "center";
      context.fillText(mark, middleX, middleY + 5);
    }
    context.globalAlpha = 1;
  }

  const wide = (value) => 1 + 5 * Math.min(1, value / most);
  const MARKED = { possible: "○", extra: "×" };

  function drawLines(context) {
    const { target: t, source: s } = focus();
    const free = t === null && s === null;
    found.forEach((from, to) => {
      const lit = free || to === t || from === s;
      drawLine(context, from, to, { width: wide(strength(to, from)), alpha: lit ? 0.85 : 0.15, mark: lit ? MARKED[verdicts[to]] : null });
    });
    const cells = t !== null && s !== null ? [[s, t]] : t !== null ? source.map((_, at) => [at, t]) : s !== null ? target.map((_, at) => [s, at]) : [];
    for (const [from, to] of cells) {
      const value = strength(to, from);
      if (found[to] !== from && (value >= 0.02 * most || cells.length === 1)) drawLine(context, from, to, { width: wide(value), alpha: 0.5 });
    }
    for (const [from, to] of missed) {
      const lit = free || to === t || from === s;
      drawLine(context, from, to, { colour: theme.ink, dash: [5, 5], alpha: lit ? 0.9 : 0.15 });
    }
  }

  // The strength beside each word that is linked to the one in focus; without focus, of each German word's own link.
  function beside() {
    const { target: t, source: s } = focus();
    const above = source.map((_, at) => (t === null || (s !== null && s !== at) ? null : strength(t, at)));
    const below = target.map((_, at) => (t === null ? strength(at, s ?? found[at]) : null));
    return { above, below };
  }

  function drawWords(context) {
    const { target: t, source: s } = focus();
    const { above, below } = beside();
    const strong = (value) => value !== null && value >= 0.1 * most;
    source.forEach((word, at) => drawWord(context, word, at, "source", above[at], at === s, t === null ? s === null : strong(above[at])));
    target.forEach((word, at) => drawWord(context, word, at, "target", below[at], at === t, t === null && (s === null || strong(below[at]))));
  }

  function drawWord(context, word, at, side, value, marked, lit) {
    const isSource = side === "source";
    const along = (isSource ? place.above : place.below)[at];
    const text = value === null || value < 0.005 * most ? "" : shown(value);
    context.fillStyle = marked || lit ? theme.ink : theme.soft;
    context.font = `${marked ? 600 : 400} ${place.size}px ${SANS}`;
    if (place.wide) {
      context.textAlign = "center";
      context.fillText(word, along, isSource ? 46 : 192);
      if (marked) context.fillRect(along - context.measureText(word).width / 2, isSource ? 52 : 198, context.measureText(word).width, 2);
      drawDigits(context, text, along, isSource ? 20 : 216, "center");
      return;
    }
    const x = isSource ? place.width * 0.37 - 8 : place.width * 0.63 + 8;
    context.textAlign = isSource ? "right" : "left";
    const room = place.width * 0.37 - 60;
    context.fillText(fitted(context, word, room), x, along + 5);
    drawDigits(context, text, isSource ? 0 : place.width, along + 5, isSource ? "left" : "right");
  }

  function drawDigits(context, text, x, y, align) {
    context.font = `12px ${CODE}`;
    context.fillStyle = theme.soft;
    context.textAlign = align;
    context.fillText(text, x, y);
  }

  function redraw() {
    if (!place) return;
    const context = sized(canvas, place.width, place.height);
    drawLines(context);
    drawWords(context);
    reading.textContent = say(focus()) || forHand("Point at a word to see all that it holds to; click to pin it.");
    aloud.textContent = pinned.target === null && pinned.source === null ? "" : `Pinned: ${say(pinned)}`;
  }

  function pin(next) {
    pinned = next;
    setTriggerValue("pin", [next.target ?? -1, next.source ?? -1]);
    redraw();
  }

  function under(event) {
    const [x, y] = pointed(event, canvas);
    const across = place.wide ? y : x;
    const edge = place.wide ? [64, 164] : [place.width * 0.37 + 6, place.width * 0.63 - 6];
    const side = across <= edge[0] ? "source" : across >= edge[1] ? "target" : null;
    if (!side) return null;
    const places = side === "source" ? place.above : place.below;
    const at = place.wide ? x : y;
    const nearest = places.reduce((best, one, index) => (Math.abs(one - at) < Math.abs(places[best] - at) ? index : best), 0);
    return { ...nothing, [side]: nearest };
  }

  function point(next) {
    if (alike(next, hovered)) return;
    hovered = next;
    redraw();
  }

  onPointer(canvas, under, point, (next) => pin(alike(next, pinned) ? nothing : next));

  function move(along, across) {
    const { target: t, source: s } = focus();
    if (t === null && s === null) hovered = { ...nothing, target: 0 };
    else if (across) hovered = across < 0 ? { ...nothing, source: s ?? found[t] } : { ...nothing, target: t ?? Math.max(0, found.indexOf(s)) };
    else if (t !== null) hovered = { ...nothing, target: bounded(t + along, 0, T - 1) };
    else hovered = { ...nothing, source: bounded(s + along, 0, S - 1) };
    redraw();
  }
  const key = (along, across) => () => (place.wide ? move(along, across) : move(across, along));
  onKeys(canvas, {
    ArrowLeft: key(-1, 0),
    ArrowRight: key(1, 0),
    ArrowUp: key(0, -1),
    ArrowDown: key(0, 1),
    Enter: () => (hovered ? pin(hovered) : false),
    Escape: () => (alike(pinned, nothing) ? false : pin(nothing)),
  });

  return onWidth(root, (width) => {
    place = measure(width);
    redraw();
  });
}
