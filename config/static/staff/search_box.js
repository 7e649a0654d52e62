// A list pasted into the one box goes to the page of lists: a line of text would lose its line breaks.
document.querySelector(".desk-search input")?.addEventListener("paste", (event) => {
  const text = event.clipboardData.getData("text");
  const box = event.target;
  if (!text.trim().includes("\n") && text.length < Number(box.maxLength)) return;
  event.preventDefault();
  const form = document.getElementById("desk-pasted");
  form.elements.numbers.value = text;
  form.submit();
});
