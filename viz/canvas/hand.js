// What a hand does to any picture: pointer, finger and keys, hints in its words, and a sign of where a picture goes on.

const FADE = 36; // pixels over which a picture fades where it goes on
const TOUCH = window.matchMedia("(hover: none)").matches; // a finger: it cannot point without a tap

// A hint in the words of the hand: a finger taps, it neither points nor clicks.
function forHand(hint) {
  if (!TOUCH) return hint;
  const taps = (_, what, reads, acts) => `Tap ${what} to ${reads}${acts.includes(" and ") ? "," : " and"} ${acts}`;
  const words = { "Point at": "Tap", "point at": "tap", Click: "Tap", click: "tap", clicks: "taps" };
  return hint
    .replace(/^Point at (.+?) to (.+?); click to (.+)$/, taps)
    .replace(/; arrow keys move/, "")
    .replace(/\b(Point at|point at|Click|clicks?)\b/g, (said) => words[said]);
}

// Where the pointer is, in CSS pixels of the canvas.
function pointed(event, canvas) {
  const box = canvas.getBoundingClientRect();
  return [event.clientX - box.left, event.clientY - box.top];
}

// What a pointer does: under(event) is what it means there, or null. `point` hears it while the pointer moves and null when
// it has left, `choose` hears what is clicked.
function onPointer(canvas, under, point, choose = () => {}) {
  canvas.addEventListener("pointermove", (event) => point(under(event)));
  canvas.addEventListener("pointerleave", () => point(null));
  canvas.addEventListener("click", (event) => {
    const target = under(event);
    if (target !== null) choose(target);
  });
}

// A quiet sign that a picture goes on inside `holder`: it fades at every edge beyond which there is more, behind the
// labels that stay in sight (`stuck`: their pixels on the left and above). Returns what to call when the size has changed.
function fadeWhereMore(holder, stuck = () => [0, 0]) {
  const show = () => {
    const { scrollLeft, scrollTop, clientWidth, clientHeight, scrollWidth, scrollHeight, offsetWidth, offsetHeight } = holder;
    const [left, above] = stuck();
    const more = {
      left: scrollLeft, right: scrollWidth - clientWidth - scrollLeft,
      above: scrollTop, below: scrollHeight - clientHeight - scrollTop,
    };
    for (const [edge, hidden] of Object.entries(more)) holder.style.setProperty(`--more-${edge}`, `${hidden > 2 ? FADE : 0}px`);
    const places = { "stuck-left": left, "stuck-above": above, "bar-right": offsetWidth - clientWidth, "bar-below": offsetHeight - clientHeight };
    for (const [name, pixels] of Object.entries(places)) holder.style.setProperty(`--${name}`, `${pixels}px`);
  };
  holder.classList.add("fading");
  holder.addEventListener("scroll", show, { passive: true });
  return show;
}

// What the keys do: `acts` by the key's name. A key whose act returns false goes on to whoever else listens.
function onKeys(canvas, acts) {
  canvas.addEventListener("keydown", (event) => {
    if (Object.hasOwn(acts, event.key) && acts[event.key]() !== false) event.preventDefault();
  });
  if (acts.Escape) letGoFromAnywhere(canvas, acts.Escape);
}

// A link may open with something pinned, and nothing has the focus then: Escape is heard wherever nobody else needs it.
// The page outlives its pictures, so it holds them weakly.
function letGoFromAnywhere(canvas, letGo) {
  canvas.letGo = letGo;
  const held = new WeakRef(canvas);
  const hear = (event) => {
    const here = held.deref();
    if (!here?.isConnected) document.removeEventListener("keydown", hear);
    else if (event.key === "Escape" && !event.defaultPrevented && !needed(event.target)) here.letGo();
  };
  document.addEventListener("keydown", hear);
}

// Whether Escape means something where it was pressed: in a field, a picture, or while something is open above the page.
function needed(target) {
  const open = "[data-testid=stPopoverBody], [data-baseweb=popover], [role=dialog], [role=listbox], [role=menu]";
  return target.shadowRoot !== null || target.matches("input, textarea, select") || document.querySelector(open) !== null;
}
