// What unfold opens by a click alone (a list's filters, the account's menu, the theme) opens by the keyboard, too.
document.addEventListener("DOMContentLoaded", () => {
  const field = '#changelist-filter :is(.select2-selection, select:not([tabindex="-1"]), input:not([type="hidden"]))';
  for (const each of document.querySelectorAll(":is(a:not([href]), div, span)[x-on\\:click]")) {
    if (!each.textContent.trim() || each.querySelector("a, button, input")) continue;
    each.tabIndex = 0;
    each.role = "button";
    each.addEventListener("keydown", (event) => {
      if (event.key !== "Enter" && event.key !== " ") return;
      event.preventDefault();
      each.click();
      // The filters stand behind the list's rows.
      if (each.closest("main")) setTimeout(() => document.querySelector(field)?.focus());
    });
  }
});
