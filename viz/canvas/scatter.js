// Heads as points on two axes: filled as trained, hollow in the baseline. Hover reads, a click chooses, a click on the
// chosen one opens it.

const DISC = 9; // pixels of radius
const HOLLOW = 6;
const REACH = 16; // how near the pointer must be

export default function ({ data, parentElement, setTriggerValue }) {
  const { header, arrays } = unpack(data);
  const { theme, points, x: across, y: up } = header;
  const root = freshRoot(parentElement, theme);
  let chosen = header.chosen;
  let hovered = null; // {index, baseline}
  let frame = null;

  const canvas = element("canvas", { tabindex: "0", role: "application", "data-marker": "scatter" });
  canvas.setAttribute(
    "aria-label",
    `${points.length} heads, ${across.label} against ${up.label}. Arrow keys move, Enter chooses, Enter again opens.`,
  );
  const drawing = element("div", { class: "scatter" });
  const names = element("div", { class: "names", "aria-hidden": "true" });
  const reading = element("p", { class: "reading" });
  const aloud = element("p", { class: "hidden", "aria-live": "polite", "data-marker": "pinned" });
  drawing.append(canvas, names);
  root.append(drawing, reading, aloud);

  const share = (axis, value) => (value - axis.least) / (axis.most - axis.least);
  const placeOf = (array, index) => [
    frame.left + share(across, array[2 * index]) * frame.width,
    frame.top + (1 - share(up, array[2 * index + 1])) * frame.height,
  ];
  const own = (index) => placeOf(arrays.own, index);
  const baseline = (index) => (Number.isNaN(arrays.baseline[2 * index]) ? null : placeOf(arrays.baseline, index));

  function measure(width) {
    const height = width < 480 ? 400 : 480;
    return { whole: width, tall: height, left: 56, top: 12, width: width - 56 - 20, height: height - 12 - 48 };
  }

  function drawAxes(context) {
    const { left, top, width, height } = frame;
    const [right, bottom] = [left + width, top + height];
    context.lineWidth = 1;
    context.font = `12px ${CODE}`;
    const every = Math.ceil((across.ticks.length * 56) / width);
    across.ticks.forEach(([value, text], number) => {
      const at = left + share(across, value) * width;
      line(context, theme.line, [at, top, at, bottom]);
      if (number % every === 0) label(context, text, at, bottom + 18, "center");
    });
    for (const [value, text] of up.ticks) {
      const at = top + (1 - share(up, value)) * height;
      line(context, theme.line, [left, at, right, at]);
      label(context, text, left - 8, at + 4, "right");
    }
    if (across.threshold !== null) {
      const at = left + share(across, across.threshold) * width;
      line(context, theme.chrome, [at, top, at, bottom], [4, 4]);
    }
    if (up.threshold !== null) {
      const at = top + (1 - share(up, up.threshold)) * height;
      line(context, theme.chrome, [left, at, right, at], [4, 4]);
    }
    context.font = `13px ${SANS}`;
    label(context, `${across.label} →`, right, bottom + 38, "right", theme.ink);
    context.save();
    context.translate(13, top);
    context.rotate(-Math.PI / 2);
    label(context, `${up.label} →`, 0, 0, "right", theme.ink);
    context.restore();
  }

  function line(context, colour, [x1, y1, x2, y2], dash = []) {
    context.strokeStyle = colour;
    context.setLineDash(dash);
    context.beginPath();
    context.moveTo(x1, y1);
    context.lineTo(x2, y2);
    context.stroke();
    context.setLineDash([]);
  }

  function label(context, text, x, y, align, colour = theme.soft) {
    context.fillStyle = colour;
    context.textAlign = align;
    context.fillText(text, x, y);
  }

  // A disc in the hue of the kind with its mark in it: the hue alone says nothing to some.
  function disc(context, kind, [x, y], radius, filled) {
    context.beginPath();
    context.arc(x, y, radius, 0, 2 * Math.PI);
    context.fillStyle = filled ? theme[kind] : theme.background;
    context.fill();
    context.lineWidth = filled ? 1 : 1.2;
    context.strokeStyle = filled ? theme.background : theme[kind];
    context.stroke();
    context.fillStyle = filled ? theme.background : theme[kind];
    context.font = `${filled ? 12 : 8}px ${SANS}`;
    context.textAlign = "center";
    context.textBaseline = "middle";
    context.fillText(theme.marks[kind], x, y + 0.5);
    context.textBaseline = "alphabetic";
  }

  // All that does not follow the pointer.
  function drawUnmarked(context) {
    drawAxes(context);
    context.globalAlpha = 0.6;
    points.forEach((point, index) => baseline(index) && disc(context, point.kind, baseline(index), HOLLOW, false));
    context.globalAlpha = 1;
    points.forEach((point, index) => disc(context, point.kind, own(index), DISC, true));
  }

  function drawMarked(context) {
    const lit = hovered ? hovered.index : chosen;
    if (lit !== null) {
      if (baseline(lit)) {
        line(context, theme[points[lit].kind], [...baseline(lit), ...own(lit)], [2, 3]);
        disc(context, points[lit].kind, baseline(lit), HOLLOW, false);
      }
      disc(context, points[lit].kind, own(lit), DISC, true);
    }
    for (const [index, radius, width] of [[chosen, DISC + 4, 2.5], [hovered && !hovered.baseline ? hovered.index : null, DISC + 3, 1.5]]) {
      if (index !== null) ring(context, own(index), radius, width);
    }
    if (hovered && hovered.baseline) ring(context, baseline(hovered.index), HOLLOW + 3, 1.5);
  }

  function ring(context, [x, y], radius, width) {
    context.strokeStyle = theme.ink;
    context.lineWidth = width;
    context.beginPath();
    context.arc(x, y, radius, 0, 2 * Math.PI);
    context.stroke();
  }

  // Names of heads that have one, and where the chosen one is, each where it covers no point and no other name; one that finds no room is left out.
  function drawNames() {
    names.replaceChildren();
    const { left, top, width, height } = frame;
    const taken = points.map((_, index) => around(own(index), DISC));
    const name = (index) => points[index].label || (index === chosen ? `${points[index].layer}·${points[index].head}` : "");
    const named = points.map((_, index) => index).filter(name);
    named.sort((one, other) => (other === chosen) - (one === chosen));
    for (const index of named) {
      const made = element("span", { class: "name" }, name(index));
      names.append(made);
      const size = [made.offsetWidth, made.offsetHeight];
      const box = candidates(own(index), size, index === chosen ? DISC + 8 : DISC + 3).find(
        (one) => one.x >= left && one.y >= top && one.x + one.w <= left + width + 16 && one.y + one.h <= top + height && !taken.some((other) => overlap(one, other)),
      );
      if (!box) {
        made.remove();
        continue;
      }
      made.style.left = `${box.x}px`;
      made.style.top = `${box.y}px`;
      taken.push(box);
    }
  }

  const around = ([x, y], radius) => ({ x: x - radius, y: y - radius, w: 2 * radius, h: 2 * radius });
  const overlap = (one, other) =>
    one.x < other.x + other.w && other.x < one.x + one.w && one.y < other.y + other.h && other.y < one.y + one.h;

  function candidates([x, y], [w, h], near) {
    const far = near + h;
    const beside = [0, -h / 2, h / 2].flatMap((shift) => [[x + near, y - h / 2 + shift], [x - near - w, y - h / 2 + shift]]);
    const over = [near, far].flatMap((away) => [[x - w / 2, y - away - h], [x - w / 2, y + away], [x, y - away - h], [x - w, y - away - h], [x, y + away], [x - w, y + away]]);
    return [...beside, ...over].map(([at, down]) => ({ x: at, y: down, w, h }));
  }

  function say(target) {
    const point = points[target.index];
    return target.baseline ? point.baselineSaid : point.said;
  }

  function redraw() {
    if (!frame) return;
    const context = sized(canvas, frame.whole, frame.tall);
    frame.base ??= prepared(frame.whole, frame.tall, drawUnmarked);
    context.drawImage(frame.base, 0, 0, frame.whole, frame.tall);
    drawMarked(context);
    const hint = "Point at a head to read it; a click chooses it, another click opens it on the page Heads.";
    reading.textContent = hovered ? say(hovered) : chosen !== null ? say({ index: chosen }) : points.length ? forHand(hint) : header.empty;
    aloud.textContent = chosen === null ? "" : `Chosen: ${say({ index: chosen })}`;
  }

  function choose(index) {
    const point = points[index];
    const place = { kind: point.kind, layer: point.layer, head: point.head };
    if (chosen === index) {
      setTriggerValue("open", place);
      return;
    }
    chosen = index;
    setTriggerValue("choose", place);
    drawNames(); // the chosen head has the first choice of room
    redraw();
  }

  function under(event) {
    const [px, py] = pointed(event, canvas);
    const away = (place) => (place ? Math.hypot(place[0] - px, place[1] - py) : Infinity);
    let best = null;
    points.forEach((_, index) => {
      for (const [isBaseline, place] of [[false, own(index)], [true, baseline(index)]]) {
        const distance = away(place) + (isBaseline ? 4 : 0); // of two under the pointer, the trained one
        if (distance <= REACH && (!best || distance < best.distance)) best = { distance, index, baseline: isBaseline };
      }
    });
    return best && { index: best.index, baseline: best.baseline };
  }

  // The nearest head in this direction: further on along it than aside from it.
  function move(dx, dy) {
    if (!points.length) return;
    const from = hovered ? hovered.index : chosen;
    if (from === null) hovered = { index: 0, baseline: false };
    else {
      const [fx, fy] = own(from);
      let best = null;
      points.forEach((_, index) => {
        const [x, y] = own(index);
        const along = (x - fx) * dx + (y - fy) * dy;
        const aside = Math.abs((x - fx) * dy) + Math.abs((y - fy) * dx);
        if (index === from || along <= 0 || aside > 2 * along) return;
        if (!best || along + aside < best.distance) best = { distance: along + aside, index };
      });
      hovered = { index: best ? best.index : from, baseline: false };
    }
    redraw();
  }

  function point(next) {
    if (alike(next, hovered)) return;
    hovered = next;
    redraw();
  }

  onPointer(canvas, under, point, (target) => choose(target.index));
  onKeys(canvas, {
    ArrowLeft: () => move(-1, 0),
    ArrowRight: () => move(1, 0),
    ArrowUp: () => move(0, -1),
    ArrowDown: () => move(0, 1),
    Enter: () => (hovered || chosen !== null ? choose(hovered ? hovered.index : chosen) : false),
    Escape: () => (hovered ? point(null) : false),
  });

  return onWidth(root, (width) => {
    frame = measure(width);
    drawNames();
    reserve(reading, points.flatMap((point) => [point.said, point.baselineSaid ?? ""]));
    redraw();
  });
}
