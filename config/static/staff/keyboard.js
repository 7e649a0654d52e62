// What unfold opens by a click alone (a list's filters, the account's menu, the theme) opens by the keyboard, too.

const FIELD = '#changelist-filter :is(.select2-selection, select:not([tabindex="-1"]), input:not([type="hidden"]))';

// The filters stand behind the list's rows, and take a moment to be shown.
function focusFilters(left = 100) {
  const first = document.querySelector(FIELD);
  if (first?.checkVisibility()) first.focus();
  else if (left) setTimeout(focusFilters, 50, left - 1);
}

document.addEventListener("DOMContentLoaded", () => {
  // What scrolls is named in the page's language: its library calls it "scrollable content".
  if (window.SimpleBar) window.SimpleBar.defaultOptions.ariaLabel = document.title;
  for (const each of document.querySelectorAll(":is(a:not([href]), div, span)[x-on\\:click]")) {
    if (!each.textContent.trim() || each.querySelector("a, button, input")) continue;
    each.tabIndex = 0;
    each.role = "button";
    each.addEventListener("keydown", (event) => {
      if (event.key !== "Enter" && event.key !== " ") return;
      event.preventDefault();
      each.click();
      if (each.closest("main")) focusFilters();
    });
  }
});
