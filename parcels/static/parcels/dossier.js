// Buttons of a parcel's page: print it, or copy a text for the shop.
document.addEventListener("click", (event) => {
  const button = event.target.closest("[data-copy], [data-print]");
  if (!button) return;
  if ("print" in button.dataset) return window.print();
  navigator.clipboard.writeText(document.getElementById(button.dataset.copy).textContent);
  button.nextElementSibling.hidden = false;
});
