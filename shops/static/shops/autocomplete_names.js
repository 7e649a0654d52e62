// Give a field that completes what is typed its label's name, which screen readers read.
const nameFields = () => {
  for (const field of document.querySelectorAll("select.admin-autocomplete")) {
    const label = document.querySelector(`label[for="${field.id}"]`);
    const shown = field.parentElement.querySelectorAll(".select2-selection, .select2-selection__rendered");
    for (const element of shown) if (label) element.setAttribute("aria-label", label.textContent.trim());
  }
};
window.addEventListener("load", () => django.jQuery(nameFields)); // after the fields were made, which jQuery starts
