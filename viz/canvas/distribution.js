// The distribution over the next piece, at every step, and what temperature, top-k and top-p leave of it while they move.

// What is sampled from, likeliest piece first: temperature, then top-k, then top-p, then rescaled to sum 1. As
// model/distribution.py. gaps: how far each log-probability is below the largest, rising; never: places left out.
export function sampled(gaps, never, { temperature, top_k: topK, top_p: topP }) {
  const found = new Float64Array(gaps.length);
  const first = after(-1, never);
  const end = topK ? beyond(gaps, nth(topK, never, gaps.length)) : gaps.length;
  let total = 0;
  for (let at = first; at < end; at++) total += found[at] = Math.exp((gaps[first] - gaps[at]) / temperature);
  for (const at of never) {
    total -= found[at];
    found[at] = 0;
  }
  let at = first;
  let sum = 0; // of all likelier pieces, and in the end of all that stay
  for (; at < end && sum / total < topP; at++) sum += found[at];
  found.fill(0, at);
  for (let kept = first; kept < at; kept++) found[kept] /= sum;
  return found;
}

// The next place of a piece that may be written.
function after(at, never) {
  do at++;
  while (never.includes(at));
  return at;
}

function nth(count, never, length) {
  let at = after(-1, never);
  for (let n = 1; n < count && at < length; n++) at = after(at, never);
  return Math.min(at, length - 1);
}

// Past all that are as likely as the piece at this place.
function beyond(gaps, at) {
  let end = at;
  while (end < gaps.length && gaps[end] <= gaps[at]) end++;
  return end;
}

// In bits.
export function entropyOf(probabilities) {
  let sum = 0;
  for (const one of probabilities) if (one > 0) sum -= one * Math.log2(one);
  return sum;
}

export default function ({ data, parentElement, setTriggerValue }) {
  const { header, arrays } = unpack(data);
  const { theme, steps, stops, shown } = header;
  const [T, V] = arrays.gaps.shape;
  const root = freshRoot(parentElement, theme);
  root.classList.add("distribution");
  // Settings of which Python has not heard yet outlive its answer to earlier ones.
  let settings = root.untold ?? header.settings;
  let step = header.step - 1;
  let hovered = null;
  let width = 0;
  let left = null; // of each step, with these settings
  const gaps = (index) => arrays.gaps.subarray(index * V, (index + 1) * V);

  const strip = stepBars(theme, {
    marker: "steps",
    label: "Entropy",
    texts: steps.map((one) => one.text),
    height: 84,
    point: (index) => ((hovered = index), redraw()),
    pick: (index) => {
      step = index;
      setTriggerValue("step", step + 1);
      redraw();
    },
  });
  strip.listen(() => step);
  const { reading, aloud, bars, sliders } = underSteps(root, strip, { said: "distribution", bars: "chances", look: "" });
  const waiting = afterRest(root, () => setTriggerValue("settings", settings));

  // What stands on a slider is a value itself, or for top-k its place among the stops.
  const same = (value) => value;
  const SLIDERS = {
    temperature: { text: "temperature", min: 0.1, max: 3, step: 0.1, write: (value) => value.toFixed(1), value: same, at: same },
    top_k: {
      text: "top-k", min: 0, max: stops.length - 1, step: 1,
      write: (value) => (value ? String(value) : "all"), value: (at) => stops[at], at: (value) => stops.indexOf(value),
    },
    top_p: { text: "top-p", min: 0.05, max: 1, step: 0.05, write: (value) => value.toFixed(2), value: same, at: same },
  };
  for (const name of Object.keys(SLIDERS)) sliders.append(slider(name, SLIDERS[name]));

  function slider(name, { text, min, max, step: by, write, value, at }) {
    const line = element("label", { class: "slider" });
    const input = element("input", { type: "range", min, max, step: by, "aria-label": text, "data-slider": name });
    const said = element("span", { class: "digits" });
    line.append(element("span", {}, text), said, input);
    const show = () => {
      said.textContent = write(settings[name]);
      input.setAttribute("aria-valuetext", write(settings[name]));
    };
    input.value = String(at(settings[name]));
    show();
    input.addEventListener("input", () => {
      root.untold = settings = { ...settings, [name]: value(Number(input.value)) };
      waiting.stop(); // Python hears when the hand lets go, or its answer would take the slider away from it
      left = null;
      show();
      redraw();
    });
    input.addEventListener("change", waiting.rest);
    return line;
  }

  const effect = element("p", { class: "soft small effect", "data-marker": "effect" });
  sliders.append(effect);

  const rows = Array.from({ length: shown + 2 }, () => {
    const row = element("div", { class: "bar" });
    const parts = { token: "token", model: "level", drawn: "level", own: "digits soft", now: "digits" };
    for (const [name, names] of Object.entries(parts)) parts[name] = element("span", { class: names });
    const track = element("span", { class: "track" });
    parts.model.style.background = theme.hatch;
    parts.drawn.style.background = theme.chrome;
    track.append(parts.model, parts.drawn);
    row.append(parts.token, track, parts.own, parts.now);
    return { row, ...parts };
  });
  const head = element("div", { class: "bar head soft small" });
  for (const text of ["", "", "model", "sampled"]) head.append(element("span", {}, text));
  bars.append(head, ...rows.map(({ row }) => row));

  function whatIsLeft(one, index) {
    const chances = sampled(gaps(index), one.never, settings);
    return { chances, bits: entropyOf(chances), pieces: chances.reduce((count, chance) => count + (chance > 0 ? 1 : 0), 0) };
  }

  function redraw() {
    if (!width) return;
    left ??= steps.map(whatIsLeft);
    strip.draw(width, {
      bars: (index) => [[0, steps[index].entropy, theme.hatch, 1], [0, left[index].bits, theme.chrome, 0.5]],
      most: Math.log2(V),
      ticks: [0, 4, 8, 12].filter((bits) => bits <= Math.log2(V)).map((bits) => [bits, bits ? String(bits) : "0 bits"]),
      step,
      hovered,
    });
    const at = hovered ?? step;
    fillRows(steps[at], gaps(at), left[at].chances);
    reading.textContent = say(at);
    aloud.textContent = say(step);
    effect.textContent =
      `${left[at].pieces.toLocaleString("en")} of ${V.toLocaleString("en")} pieces can be drawn: ` +
      `${left[at].bits.toFixed(2)} bits, where the model by itself has ${steps[at].entropy.toFixed(2)}.`;
  }

  // The likeliest pieces, the written one if it is not among them, and all others as one bar.
  function fillRows(one, below, chances) {
    const apart = one.written >= shown;
    const sums = [0, 0];
    rows.forEach((row, place) => {
      const at = place === shown ? one.written : place;
      const others = place > shown;
      row.row.style.visibility = place === shown && !apart ? "hidden" : "visible";
      if (place === shown && !apart) return;
      const values = others ? sums.map((sum) => Math.max(0, 1 - sum)) : [Math.exp(one.best - below[at]), chances[at]];
      values.forEach((value, which) => (sums[which] += value));
      row.row.classList.toggle("others", others);
      row.row.classList.toggle("marked", !others && at === one.written);
      row.token.textContent = others ? `${(V - shown - apart).toLocaleString("en")} others` : at < shown ? one.names[at] : one.writes;
      row.model.style.width = `${100 * values[0]}%`;
      row.drawn.style.width = `${100 * values[1]}%`;
      row.own.textContent = number(values[0]);
      row.now.textContent = values[1] > 1e-9 ? number(values[1]) : "0"; // what is left of 1 may be a rounding
    });
  }

  function say(index) {
    const one = steps[index];
    const now = left[index].chances[one.written];
    return (
      `step ${index + 1} of ${T}: having read ‘${one.read}’, the model holds ‘${one.writes}’, which is written, for ` +
      `${number(Math.exp(one.best - gaps(index)[one.written]))} (rank ${one.written + 1}); sampled with these settings: ` +
      `${now ? number(now) : "0"}. Entropy ${one.entropy.toFixed(2)} bits.`
    );
  }

  const stop = onWidth(root, (next) => {
    width = next;
    redraw();
    strip.bringIntoSight(step);
  });
  return () => {
    stop();
    waiting.stop();
  };
}
