// Points in a plane, some of them joined: where vectors are before and after. Hover reads, click picks, arrow keys move.

const REACH = 36; // pixels from a point within which the pointer means it
const EDGE = 30;

export default function ({ data, parentElement, setTriggerValue }) {
  const { header, arrays } = unpack(data);
  const { theme, groups, points, height } = header;
  const root = freshRoot(parentElement, theme);
  let picked = points.findIndex((point) => point.number === header.marked && point.group === groups.length - 1);
  let hovered = -1;
  let geometry = null;

  const legend = element("div", { class: "legend" });
  groups.forEach(({ name, hollow, colour }) => {
    const item = element("span", {}, `${hollow ? "○" : "●"} ${name}`);
    item.style.color = hollow ? theme.soft : colour;
    legend.append(item);
  });
  const canvas = element("canvas", { tabindex: "0", role: "application", "data-marker": "plane" });
  canvas.setAttribute("aria-label", `${header.title}: ${points.length} points. Arrow keys move, Enter picks.`);
  const reading = element("p", { class: "reading", "aria-live": "polite" });
  root.append(element("p", { class: "soft small" }, header.title), legend, canvas, reading);

  const focus = () => (hovered >= 0 ? hovered : picked);
  const next = points.map(({ number, group }) => points.findIndex((other) => other.number === number && other.group === group + 1));
  const at = (n) => [arrays.points[2 * n], arrays.points[2 * n + 1]];

  function layOut(width) {
    const corners = header.circle ? [-1, 1] : []; // all of it is shown
    const [xs, ys] = [0, 1].map((axis) => points.map((_, n) => at(n)[axis]).concat(corners));
    const span = (values) => Math.max(...values) - Math.min(...values) || 1;
    const middle = (values) => (Math.max(...values) + Math.min(...values)) / 2;
    // One unit is as long across as it is up, or distances would lie.
    const unit = Math.min((width - 2 * EDGE) / span(xs), (height - 2 * EDGE) / span(ys));
    const places = points.map((_, n) => [width / 2 + (at(n)[0] - middle(xs)) * unit, height / 2 - (at(n)[1] - middle(ys)) * unit]);
    geometry = { width, places, unit };
    redraw();
  }

  function redraw() {
    if (!geometry) return;
    const context = sized(canvas, geometry.width, height);
    context.strokeStyle = theme.line;
    context.strokeRect(0.5, 0.5, geometry.width - 1, height - 1);
    if (header.circle) drawCircle(context);
    const number = focus() >= 0 ? points[focus()].number : null;
    points.forEach((_, n) => drawLink(context, n, number));
    points.forEach((_, n) => drawPoint(context, n, number));
    drawNames(context, number);
    reading.textContent = focus() >= 0 ? points[focus()].says : forHand("Point at a piece to read it.");
  }

  function drawCircle(context) {
    context.beginPath();
    context.arc(geometry.width / 2, height / 2, geometry.unit, 0, 2 * Math.PI);
    context.stroke();
  }

  // From each point to the one of the same number in the next group.
  function drawLink(context, n, number) {
    if (next[n] < 0) return;
    context.strokeStyle = theme.chrome;
    context.globalAlpha = points[n].number === number ? 0.9 : 0.25;
    context.lineWidth = points[n].number === number ? 1.5 : 1;
    context.beginPath();
    context.moveTo(...geometry.places[n]);
    context.lineTo(...geometry.places[next[n]]);
    context.stroke();
    context.globalAlpha = 1;
  }

  function drawPoint(context, n, number) {
    const { colour, hollow } = groups[points[n].group];
    context.beginPath();
    context.arc(...geometry.places[n], points[n].number === number ? 6 : 4, 0, 2 * Math.PI);
    context.fillStyle = hollow ? theme.background : colour;
    context.strokeStyle = colour;
    context.lineWidth = 2;
    context.fill();
    context.stroke();
  }

  // The focused piece is named in any case, the others where their names cover neither a point nor a name. A name has the
  // colour of its group.
  function drawNames(context, number) {
    const taken = geometry.places.map(([x, y]) => [x - 5, y - 5, x + 5, y + 5]);
    const named = new Set(); // equal names of points on one spot are one name
    const free = ([left, top, right, bottom]) =>
      left >= 2 && right <= geometry.width - 2 && top >= 2 && bottom <= height - 2 &&
      !taken.some((other) => left < other[2] && right > other[0] && top < other[3] && bottom > other[1]);
    const order = points.map((_, n) => n).sort((one, other) => rank(one) - rank(other));
    function rank(n) {
      return (points[n].number === number ? 0 : 2) + (n === focus() ? 0 : 1) - points[n].group / groups.length;
    }
    context.font = `13px ${CODE}`;
    for (const n of order) {
      const here = points[n].number === number;
      const [x, y] = geometry.places[n];
      const spot = `${points[n].label} ${Math.round(x / 8)} ${Math.round(y / 8)}`;
      if (named.has(spot)) continue;
      const boxes = around(x, y, context.measureText(points[n].label).width);
      const box = boxes.find(free) ?? (here ? boxes[x > geometry.width / 2 ? 1 : 0] : null);
      if (!box) continue;
      taken.push(box);
      named.add(spot);
      const { colour, hollow } = groups[points[n].group];
      context.fillStyle = here ? theme.ink : hollow ? theme.soft : colour;
      context.fillText(points[n].label, box[0], box[3] - 4);
    }
  }

  // Where a name can stand: beside its point, above and below it.
  function around(x, y, wide) {
    const corners = [[x + 9, y - 8], [x - 9 - wide, y - 8], [x - wide / 2, y - 24], [x - wide / 2, y + 8], [x + 6, y - 21], [x + 6, y + 5], [x - 6 - wide, y - 21], [x - 6 - wide, y + 5]];
    return corners.map(([left, top]) => [left, top, left + wide, top + 16]);
  }

  function under(event) {
    const [px, py] = pointed(event, canvas);
    const away = geometry.places.map(([x, y]) => Math.hypot(x - px, y - py));
    const nearest = away.indexOf(Math.min(...away));
    return away[nearest] <= REACH ? nearest : null;
  }

  function point(n) {
    if (n === hovered) return;
    hovered = n;
    redraw();
  }

  function pick(n) {
    if (n < 0) return;
    picked = n;
    setTriggerValue("pick", points[n].number);
    redraw();
  }

  function walk(by, group) {
    const from = points[Math.max(0, focus())];
    const numbers = points.map((other) => other.number);
    const number = bounded(from.number + by, 1, Math.max(...numbers));
    point(points.findIndex((other) => other.number === number && other.group === (group ?? from.group)));
  }

  onPointer(canvas, under, (n) => point(n ?? -1), pick);
  onKeys(canvas, {
    ArrowRight: () => walk(1),
    ArrowLeft: () => walk(-1),
    ArrowUp: () => walk(0, 0),
    ArrowDown: () => walk(0, groups.length - 1),
    Enter: () => pick(focus()),
    Escape: () => (hovered >= 0 ? point(-1) : false),
  });
  return onWidth(root, layOut);
}
