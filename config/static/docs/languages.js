// The chosen language is chosen in every example, on later visits too.
const KEY = "language";

function choose(language) {
  for (const choice of document.querySelectorAll(".examples input")) if (choice.value === language) choice.checked = true;
}

// Storage may be refused; then the choice lasts as long as the page.
function remembered() {
  try {
    return localStorage.getItem(KEY);
  } catch {
    return null;
  }
}

function remember(language) {
  try {
    localStorage.setItem(KEY, language);
  } catch {}
}

choose(remembered());
document.addEventListener("change", ({ target }) => {
  if (!target.matches(".examples input")) return;
  const top = () => target.getBoundingClientRect().top;
  const before = top();
  choose(target.value);
  remember(target.value);
  scrollBy({ top: top() - before, behavior: "instant" }); // examples above have another height now
});
