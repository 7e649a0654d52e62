// Shows a check's answer on the page, so that a secret that was typed stays typed. Without it the page is sent as usual.
document.addEventListener("click", async (event) => {
  const button = event.target.closest("button[name=_check]");
  if (!button || button.dataset.isPlain) return;
  event.preventDefault();
  const result = document.querySelector(".contract-check-result");
  result.textContent = result.dataset.asking;
  button.disabled = true;
  const form = new FormData(button.form);
  form.append("_check", "yes");
  try {
    const answer = await fetch(button.form.action || location.href, { method: "POST", body: form });
    const page = new DOMParser().parseFromString(await answer.text(), "text/html");
    const told = page.querySelector(".contract-check-result > p");
    if (told) return result.replaceChildren(...told.parentElement.children);
  } catch {
    result.textContent = result.dataset.failed;
    return;
  } finally {
    button.disabled = false;
  }
  button.dataset.isPlain = "yes"; // something typed is wrong: the whole page tells what
  button.click();
});
