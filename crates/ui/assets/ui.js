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
  const showFiles = () => chosen.replaceChildren(...[...files.files].map((file) => {
    const item = document.createElement("li");
    item.textContent = `${file.name} (${Math.max(1, Math.round(file.size / 1024))} kB)`;
    return item;
  }));
  files.addEventListener("change", showFiles);
  box.addEventListener("keydown", (event) => {
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
    if (example) { event.preventDefault(); box.value = example.dataset.draft; box.focus(); }
  });
  // What was sent is on its way: the box is free for the next request.
  composer.addEventListener("htmx:before:request", () => {
    one(".welcome")?.remove();
    history.replaceState(null, "", composer.action);
    setTimeout(() => { box.value = ""; composer.querySelector("#files").value = ""; showFiles(); box.focus(); });
  });
  const toEnd = () => one(".turn:last-of-type")?.scrollIntoView({ block: "end" });
  document.addEventListener("htmx:after:swap", () => { if (document.activeElement === box) toEnd(); });
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

// Keyboard.
const go = { o: "/", a: "/ask", r: "/runs", p: "/approvals", c: "/checks", t: "/tables", l: "/ledger" };
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

// Charts, from the tables behind them.
const draw = (figure) => {
  const canvas = one(".canvas", figure), table = one("table", figure);
  if (typeof uPlot === "undefined" || !canvas || !table) return;
  const heads = all("thead th", table).slice(1);
  const rows = all("tbody tr", table).map((row) => [...row.cells].map((cell) => cell.textContent));
  if (!rows.length) return;
  const style = getComputedStyle(document.documentElement);
  const colour = (name) => style.getPropertyValue(`--${name}`).trim();
  const times = rows.map((row) => Date.parse(row[0].trim().replace(" ", "T") + (row[0].length > 10 ? "Z" : "")) / 1000);
  const figures = heads.map((_, place) => rows.map((row) => Number(row[place + 1].replaceAll(",", "").replace("%", "")) || 0));
  // Each column stands on the ones before it, so the highest is drawn first.
  const sums = figures.map((_, place) => rows.map((_, row) => figures.slice(0, place + 1).reduce((sum, column) => sum + column[row], 0)));
  const series = heads.map((head, place) => ({ label: head.textContent, stroke: colour(head.dataset.colour), fill: colour(head.dataset.colour), width: 0, points: { show: false }, paths: uPlot.paths.bars({ size: [0.7, 24] }), value: (_, __, ___, at) => at == null ? "" : figures[place][at] })).reverse();
  const axis = { stroke: colour("muted"), grid: { stroke: colour("line"), width: 1 }, ticks: { show: false }, font: "12px system-ui" };
  const options = { width: canvas.clientWidth, height: 170, cursor: { drag: { x: false, y: false } }, scales: { y: { range: (_, __, most) => [0, Math.max(1, most * 1.05)] } }, series: [{ value: (_, time) => time == null ? "" : new Date(time * 1000).toISOString().slice(0, 10) }, ...series], axes: [{ ...axis, grid: { show: false }, values: (_, splits) => splits.map((time) => new Date(time * 1000).toISOString().slice(5, 10)) }, { ...axis, size: 40, incrs: [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10000, 100000, 1000000] }] };
  const chart = new uPlot(options, [times, ...sums.reverse()], canvas);
  new ResizeObserver(() => chart.setSize({ width: canvas.clientWidth, height: 170 })).observe(canvas);
};
addEventListener("load", () => all("[data-chart]").forEach(draw));
