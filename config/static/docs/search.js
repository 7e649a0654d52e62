// Search the documentation's sections: every word has to be in a section; titles count more than text.
const LIMIT = 8;
const SHOWN = 140; // characters of text
const form = document.querySelector(".search");
const input = form.querySelector("input");
const status = form.querySelector("p");
const list = form.querySelector("ul");
let sections; // a promise, once somebody searches

async function load() {
  const response = await fetch(form.dataset.index);
  if (!response.ok) throw new Error(response.statusText);
  return (await response.json()).map((section) => ({
    ...section,
    titleLower: section.title.toLowerCase(),
    textLower: section.text.toLowerCase(),
  }));
}

function scoreOf(text, word) {
  if (text === word) return 3;
  if (beginning(word).test(text)) return 2;
  return text.includes(word) ? 0.05 : 0; // "rate" in "generated"
}

const escaped = (word) => word.replace(/[^\w\s]/g, "\\$&");
const beginning = (word) => new RegExp(`(^|[^a-z0-9])${escaped(word)}`);

function score({ titleLower, textLower }, words, query) {
  const scores = words.map((word) => 8 * scoreOf(titleLower, word) + scoreOf(textLower, word));
  return Math.min(...scores) && scores.reduce((sum, each) => sum + each) + 16 * scoreOf(titleLower, query);
}

function best(all, query) {
  const words = query.split(/\s+/);
  const scored = all.map((section) => ({ section, points: score(section, words, query) }));
  const matching = scored.filter(({ points }) => points > 0).sort((one, other) => other.points - one.points);
  return matching.map(({ section }) => section);
}

// Append the text to the element, with the words marked.
function mark(element, text, words) {
  const pattern = new RegExp(`(${words.map(escaped).join("|")})`, "i");
  for (const [index, part] of text.split(pattern).entries()) {
    element.append(index % 2 ? Object.assign(document.createElement("mark"), { textContent: part }) : part);
  }
}

function excerpt({ text, textLower }, words) {
  const places = words.map((word) => textLower.indexOf(word)).filter((at) => at >= 0);
  const start = places.length ? Math.max(0, Math.min(...places) - SHOWN / 4) : 0;
  const head = start === 0 ? "" : "… ";
  const from = start === 0 ? 0 : text.indexOf(" ", start) + 1;
  const tail = from + SHOWN < text.length ? " …" : "";
  return head + text.slice(from, from + SHOWN).replace(tail && /\s\S*$/, "") + tail;
}

function item(section, words) {
  const link = document.createElement("a");
  link.href = section.url;
  mark(link, section.title, words);
  const details = document.createElement("small");
  mark(details, `${section.page}: ${excerpt(section, words)}`, words);
  link.append(details);
  const row = document.createElement("li");
  row.append(link);
  return row;
}

async function search() {
  const query = input.value.trim().toLowerCase();
  if (!query) return close();
  const matching = await (sections ??= load()).then((all) => best(all, query)).catch(() => (sections = undefined));
  if (query !== input.value.trim().toLowerCase()) return; // typed on meanwhile
  const shown = matching?.slice(0, LIMIT) ?? [];
  list.replaceChildren(...shown.map((section) => item(section, query.split(/\s+/))));
  status.textContent = !matching ? "The search could not be loaded." : said(matching.length);
}

function said(count) {
  if (count > LIMIT) return `The best ${LIMIT} of ${count} sections`;
  return count === 0 ? "No section has these words." : count === 1 ? "1 section" : `${count} sections`;
}

function close() {
  status.textContent = "";
  list.replaceChildren();
}

// The arrow keys go from the input through the results, Escape back.
function move(event) {
  const stops = [input, ...list.querySelectorAll("a")];
  const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
  if (step) {
    event.preventDefault();
    stops[Math.min(Math.max(stops.indexOf(document.activeElement) + step, 0), stops.length - 1)].focus();
  } else if (event.key === "Escape") {
    input.focus();
    close();
  }
}

form.hidden = false;
input.addEventListener("input", search);
input.addEventListener("focus", () => status.textContent || search());
form.addEventListener("keydown", move);
form.addEventListener("submit", async (event) => {
  event.preventDefault();
  await search();
  list.querySelector("a")?.click();
});
list.addEventListener("click", close);
document.addEventListener("pointerdown", ({ target }) => form.contains(target) || close());
form.addEventListener("focusout", ({ relatedTarget }) => relatedTarget && !form.contains(relatedTarget) && close());
document.addEventListener("keydown", (event) => {
  const isWriting = event.target.closest("input, textarea, select, [contenteditable]");
  if (event.key !== "/" || event.ctrlKey || event.metaKey || event.altKey || isWriting) return;
  event.preventDefault();
  input.focus();
});
