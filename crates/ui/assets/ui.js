// What makes pages live. Everything here is an addition: without it pages read and forms work.
"use strict";

const one = (selector, within = document) => within.querySelector(selector);
const all = (selector, within = document) => [...within.querySelectorAll(selector)];

// A form is sent once: a second click on its button does nothing.
document.addEventListener("submit", (event) => {
  const form = event.target;
  if (form.method !== "post" || form.id === "composer") return;
  if (form.dataset.sent) { event.preventDefault(); return; }
  form.dataset.sent = "yes";
  for (const button of all("button", form)) button.setAttribute("aria-disabled", "true");
});
// A page that comes back from the browser's memory may be old, and its buttons were used.
addEventListener("pageshow", (event) => { if (event.persisted) location.reload(); });

// The conversation.
const composer = one("#composer");
if (composer) {
  const box = one("#request"), files = one("#files"), chosen = one("#chosen");
  const showFiles = () => {
    chosen.replaceChildren(...[...files.files].map((file) => {
      const item = document.createElement("li");
      item.textContent = `${file.name} (${Math.max(1, Math.round(file.size / 1024))} kB)`;
      return item;
    }));
    if (!files.files.length) return;
    const without = Object.assign(document.createElement("button"), { type: "button", textContent: "Ask without files" });
    without.addEventListener("click", () => { files.value = ""; showFiles(); box.focus(); });
    const last = document.createElement("li");
    last.append(without);
    chosen.append(last);
  };
  files.addEventListener("change", showFiles);
  // What the reader understands while somebody types: words underlined below the box's own text, and what may come next.
  const words = one("#words"), mirror = one("#mirror");
  const options = () => all("#next [role=option]");
  const choose = (option) => {
    for (const other of options()) other.setAttribute("aria-selected", String(other === option));
    if (option) { box.setAttribute("aria-activedescendant", option.id); option.scrollIntoView({ block: "nearest" }); } else box.removeAttribute("aria-activedescendant");
  };
  const close = () => { one("#next")?.remove(); choose(); };
  const forget = () => { words.replaceChildren(); mirror.replaceChildren(); choose(); };
  let typing, asked = 0;
  const read = async () => {
    const text = box.value, mine = ++asked;
    if (!text.trim() || text.length > 500 || files.files.length) { forget(); return; }
    const answer = await fetch(`/ask/words?text=${encodeURIComponent(text)}`).catch(() => null);
    if (mine !== asked || box.value !== text || !answer?.ok || answer.redirected) return;
    words.innerHTML = await answer.text();
    const under = one("[data-mirror]", words);
    mirror.replaceChildren(...under.childNodes);
    under.remove();
    choose();
    const reads = one(".reads", words);
    if (announce && reads) announce.textContent = reads.textContent;
  };
  const accept = (option) => {
    const next = option.dataset.text, text = box.value;
    // An unfinished last word, or the beginning of a name of several, is replaced.
    const starts = [...text.matchAll(/(^|\s)\S/g)].map((found) => found.index + found[1].length);
    const from = starts.find((start) => next.toLowerCase().startsWith(text.slice(start).toLowerCase())) ?? text.length;
    const before = text.slice(0, from);
    box.value = `${before}${before && !/\s$/.test(before) ? " " : ""}${next} `;
    box.focus();
    read();
  };
  box.addEventListener("input", () => {
    if (!box.value.startsWith(mirror.textContent)) mirror.replaceChildren();
    clearTimeout(typing);
    typing = setTimeout(read, 150);
  });
  words.addEventListener("mousedown", (event) => {
    const option = event.target.closest("[role=option]");
    if (option) { event.preventDefault(); accept(option); }
  });
  box.addEventListener("keydown", (event) => {
    const list = options(), at = list.findIndex((option) => option.getAttribute("aria-selected") === "true");
    const isAtEnd = box.selectionStart === box.value.length;
    if (list.length && (event.key === "ArrowDown" || event.key === "ArrowUp") && (isAtEnd || at >= 0)) {
      event.preventDefault();
      choose(list[event.key === "ArrowDown" ? Math.min(list.length - 1, at + 1) : at - 1]);
    } else if (at >= 0 && event.key === "Enter" && !event.isComposing) { event.preventDefault(); accept(list[at]); return; }
    else if (list.length && event.key === "Escape") { event.preventDefault(); close(); }
    if (event.key === "Enter" && !event.shiftKey && !event.isComposing) { event.preventDefault(); composer.requestSubmit(); }
  });
  for (const name of ["dragenter", "dragover"]) composer.addEventListener(name, (event) => { event.preventDefault(); composer.classList.add("over"); });
  for (const name of ["dragleave", "drop"]) composer.addEventListener(name, () => composer.classList.remove("over"));
  composer.addEventListener("drop", (event) => {
    event.preventDefault();
    if (event.dataTransfer.files.length) { files.files = event.dataTransfer.files; showFiles(); }
  });
  document.addEventListener("click", (event) => {
    const example = event.target.closest("[data-draft]");
    if (example) { event.preventDefault(); box.value = example.dataset.draft; box.focus(); read(); }
  });
  // What was sent is on its way: the box is free for the next request.
  composer.addEventListener("htmx:before:request", () => {
    one(".welcome")?.remove();
    history.replaceState(null, "", composer.action);
    asked++;
    forget();
    // Files stay: the next question is about them too, unless they are taken away.
    setTimeout(() => { box.value = ""; box.focus(); });
  });
  // The newest answer is read from its beginning, and none of it lies under the box.
  const toEnd = () => {
    const turn = one(".turn:last-of-type");
    if (turn && turn.offsetHeight > innerHeight - composer.offsetHeight) turn.scrollIntoView();
    else scrollTo(0, document.documentElement.scrollHeight);
  };
  document.addEventListener("htmx:after:swap", () => { if (document.activeElement === box) toEnd(); });
  if (box.value) read();
  if (one(".turn")) { box.focus({ preventScroll: true }); toEnd(); }
}

// Screen readers hear the stages of a run, not each line of its output.
const announce = one("#announce");
document.addEventListener("htmx:sse:after:message", (event) => {
  const now = one(".steps-live .now", event.target) ?? one(".receipt", event.target);
  if (announce && now && announce.textContent !== now.textContent) announce.textContent = now.textContent;
});

// A lost connection is said, and taken back when it is there again.
const lost = (is) => {
  let banner = one("#lost");
  if (!is) { banner?.remove(); return; }
  if (banner) return;
  banner = Object.assign(document.createElement("p"), { id: "lost", className: "notice bad", textContent: "The connection is lost. Trying again…" });
  banner.setAttribute("role", "alert");
  document.body.append(banner);
};
// A run that has ended has nothing more to say: its page is not followed any longer.
document.addEventListener("htmx:sse:before:connection", (event) => { if (one("[data-over]", event.target)) event.preventDefault(); });
document.addEventListener("htmx:sse:error", () => lost(true));
document.addEventListener("htmx:sse:after:connection", () => lost(false));

// On a phone the screens stand in one line, and the one that is open is to be seen.
const screen = one(".side nav [aria-current]"), screens = one(".side nav");
if (screen && screens) screens.scrollLeft = screen.offsetLeft - screens.offsetLeft - 40;

// Keyboard.
const go = { o: "/", a: "/ask", r: "/runs", p: "/approvals", c: "/checks", t: "/tables", n: "/plans", l: "/ledger", k: "/keys", s: "/settings" };
const help = one("#help"), shortcuts = one("#shortcuts");
if (shortcuts) {
  shortcuts.checked = localStorage.getItem("shortcuts") !== "off";
  shortcuts.addEventListener("change", () => localStorage.setItem("shortcuts", shortcuts.checked ? "on" : "off"));
}
let before = "";
const move = (by) => {
  const rows = all("[data-row]");
  if (!rows.length) return;
  const at = rows.findIndex((row) => row.classList.contains("at"));
  const next = rows[Math.min(rows.length - 1, Math.max(0, at + by))];
  rows[at]?.classList.remove("at");
  next.classList.add("at");
  next.scrollIntoView({ block: "nearest" });
  one("a", next)?.focus({ preventScroll: true });
};
document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || !shortcuts?.checked) return;
  if (event.target.closest("input, textarea, select, dialog")) return;
  const key = before === "g" ? `g ${event.key}` : event.key;
  before = event.key === "g" && before !== "g" ? "g" : "";
  if (go[key.slice(2)] && key.startsWith("g ")) location.assign(go[key.slice(2)]);
  else if (key === "/") { event.preventDefault(); const box = one("#request") ?? one("input[type=search]"); if (box) box.focus(); else location.assign("/ask"); }
  else if (key === "?") help?.showModal();
  else if (key === "j" || key === "n") move(1);
  else if (key === "k") move(-1);
});

// Charts, from the tables behind them. Names stand side by side, times at their places.
const draw = (figure) => {
  const canvas = one(".canvas", figure), table = one("table", figure);
  const heads = all("thead th", table).slice(1);
  const rows = all("tbody tr", table).map((row) => [...row.cells].map((cell) => cell.textContent.trim()));
  if (!rows.length || canvas.childElementCount) return;
  const style = getComputedStyle(document.documentElement);
  const colour = (name) => style.getPropertyValue(`--${name}`).trim();
  const isTime = rows.every((row) => /^\d{4}-\d\d(-\d\d([T ].*)?)?$/.test(row[0]));
  const places = rows.map((row, at) => isTime ? Date.parse(row[0].replace(" ", "T") + (row[0].length > 10 ? "Z" : "")) / 1000 : at);
  const figures = heads.map((_, column) => rows.map((row) => Number(row[column + 1].replaceAll(",", "")) || 0));
  const isStacked = "stacked" in figure.dataset, isBars = isStacked || heads.length === 1;
  // Parts of a whole stand on one another, so the highest is drawn first.
  const drawn = isStacked ? figures.map((_, column) => rows.map((_, row) => figures.slice(0, column + 1).reduce((sum, of) => sum + of[row], 0))) : figures;
  const series = heads.map((head) => ({ label: head.textContent, stroke: colour(head.dataset.colour), fill: isBars ? colour(head.dataset.colour) : undefined, width: isBars ? 0 : 2, points: { show: false }, paths: isBars ? uPlot.paths.bars({ size: [0.7, 40] }) : undefined }));
  // Times of one day are told apart by their hours.
  const isOneDay = isTime && rows[0][0].length > 10 && places.at(-1) - places[0] < 172800;
  const named = (at) => !isTime ? rows[at]?.[0].slice(0, 14) ?? "" : new Date(at * 1000).toISOString().slice(...(isOneDay ? [11, 16] : rows[0][0].length === 7 ? [0, 7] : [5, 10]));
  const axis = { stroke: colour("muted"), grid: { stroke: colour("line"), width: 1 }, ticks: { show: false }, font: "12px system-ui" };
  const step = (places.at(-1) - places[0]) / Math.max(1, rows.length - 1) || 1;
  const margin = isBars ? { range: [places[0] - step * 0.6, places.at(-1) + step * 0.6] } : {};
  const options = { width: canvas.clientWidth, height: 170, cursor: { show: false }, legend: { live: false }, scales: { x: { time: isTime, ...margin }, y: { range: (_, least, most) => [Math.min(0, least * 1.05), Math.max(1, most * 1.05)] } }, series: [{}, ...series.reverse()], axes: [{ ...axis, grid: { show: false }, ...(isTime && rows.length > 16 ? {} : { splits: places }), values: (_, at) => at.map(named) }, { ...axis, size: 64 }] };
  const chart = new uPlot(options, [places, ...drawn.toReversed()], canvas);
  new ResizeObserver(() => chart.setSize({ width: canvas.clientWidth, height: 170 })).observe(canvas);
};
// What draws is fetched where there is something to draw.
let drawing;
const fetched = ({ script, style }) => drawing ??= new Promise((done) => {
  document.head.append(Object.assign(document.createElement("link"), { rel: "stylesheet", href: style }), Object.assign(document.createElement("script"), { src: script, onload: done }));
});
const drawAll = () => { const figures = all("[data-chart]"); if (figures.length) fetched(figures[0].dataset).then(() => figures.forEach(draw)); };
addEventListener("load", drawAll);
document.addEventListener("htmx:after:swap", drawAll);
