// The loss of every token of the translation, and for one of them the target of training beside what the model holds.

export default function ({ data, parentElement, setTriggerValue }) {
  const { header } = unpack(data);
  const { theme, steps, vocabulary: V } = header;
  const root = freshRoot(parentElement, theme);
  root.classList.add("loss");
  let smoothing = root.untold ?? header.smoothing;
  let step = header.step - 1;
  let hovered = null;
  let width = 0;

  const strip = stepBars(theme, {
    marker: "losses",
    label: "Loss of each token",
    texts: steps.map((one) => one.text),
    height: 110,
    point: (index) => ((hovered = index), redraw()),
    pick: (index) => {
      step = index;
      setTriggerValue("step", step + 1);
      redraw();
    },
  });
  strip.listen(() => step);
  const { reading, aloud, bars, sliders } = underSteps(root, strip, { said: "loss", bars: "targets", look: "targets" });
  const waiting = afterRest(root, () => setTriggerValue("smoothing", { value: smoothing }));

  const line = element("label", { class: "slider" });
  const input = element("input", { type: "range", min: 0, max: 0.9, step: 0.05, "aria-label": "label smoothing", "data-slider": "smoothing" });
  const value = element("span", { class: "digits" });
  const total = element("p", { class: "soft small effect", "data-marker": "total" });
  line.append(element("span", {}, "label smoothing ε"), value, input);
  sliders.append(line, total);
  input.value = String(smoothing);
  input.addEventListener("input", () => {
    root.untold = smoothing = Number(input.value);
    waiting.stop();
    redraw();
  });
  input.addEventListener("change", waiting.rest);

  const parts = (one) => [(1 - smoothing) * one.surprise, smoothing * one.spread];
  const lossOf = (one) => parts(one)[0] + parts(one)[1];
  // Nats below which no model comes: the entropy of the target itself.
  function least() {
    const [right, other] = [1 - smoothing + smoothing / V, smoothing / V];
    return -(right * Math.log(right) + (other ? (V - 1) * other * Math.log(other) : 0));
  }

  function redraw() {
    if (!width) return;
    value.textContent = smoothing.toFixed(2);
    input.setAttribute("aria-valuetext", smoothing.toFixed(2));
    const most = Math.max(1, Math.ceil(Math.max(...steps.map(lossOf))));
    const floor = least();
    strip.draw(width, {
      bars: (index) => {
        const [surprise, spread] = parts(steps[index]);
        return [[0, surprise, theme.chrome, 0.8], [surprise, surprise + spread, theme.hatch, 0.8], [floor, floor, theme.ink, 1.1]];
      },
      most,
      ticks: [[0, "0 nats"], [most / 2, String(most / 2)], [most, String(most)]],
      step,
      hovered,
    });
    const at = hovered ?? step;
    fillRows(steps[at]);
    reading.textContent = say(at);
    aloud.textContent = say(step);
    const sum = steps.reduce((so, one) => so + lossOf(one), 0);
    total.textContent =
      `${sum.toFixed(2)} nats over ${steps.length} tokens, ${(sum / steps.length).toFixed(3)} a token. ` +
      `No model comes below ${floor.toFixed(3)} (the line in each column): the target itself is not certain.`;
  }

  // Target and model side by side, and what each piece adds to the loss; it sums to the bar above.
  function fillRows(one) {
    const other = smoothing / V;
    bars.replaceChildren();
    const head = element("div", { class: "bar head soft small" });
    for (const text of ["", "", "target q", "model p", "q · −ln p"]) head.append(element("span", {}, text));
    bars.append(head);
    for (const [text, logarithm, right] of one.pieces) {
      const wanted = (right ? 1 - smoothing : 0) + other;
      bars.append(row(text, wanted, Math.exp(logarithm), -wanted * logarithm, right));
    }
    const others = row(`${one.others.toLocaleString("en")} others`, other * one.others, Math.max(0, one.othersShare), -other * one.othersSum, false);
    others.classList.add("others");
    bars.append(others);
  }

  function row(text, wanted, held, added, right) {
    const made = element("div", { class: right ? "bar marked" : "bar" });
    const track = element("span", { class: "track" });
    for (const [share, colour] of [[wanted, theme.hatch], [held, theme.chrome]]) {
      const level = element("span", { class: "level" });
      level.style.width = `${100 * Math.min(1, share)}%`;
      level.style.background = colour;
      track.append(level);
    }
    const figures = [small(wanted), small(held), small(added)].map((digits) => element("span", { class: "digits" }, digits));
    made.append(element("span", { class: "token" }, text), track, ...figures);
    return made;
  }

  function small(value) {
    return value === 0 ? "0" : digits(value).replace("e−0", "e−");
  }

  function say(index) {
    const one = steps[index];
    const [surprise, spread] = parts(one);
    return (
      `step ${index + 1} of ${steps.length}: having read ‘${one.read}’, it should write ‘${one.text}’. Loss ${lossOf(one).toFixed(3)} nats = ` +
      `${surprise.toFixed(3)} for that piece + ${spread.toFixed(3)} for the whole vocabulary.`
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
