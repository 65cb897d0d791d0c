"use strict";
document.addEventListener("click", async (event) => {
  const button = event.target.closest("button.copy");
  if (!button) return;
  const code = document.getElementById(button.dataset.of);
  let done = true;
  try {
    await navigator.clipboard.writeText(code.textContent);
  } catch {
    const range = document.createRange();
    range.selectNodeContents(code);
    const chosen = getSelection();
    chosen.removeAllRanges();
    chosen.addRange(range);
    done = document.execCommand("copy");
  }
  button.textContent = done ? "Copied" : "Press Ctrl+C";
  setTimeout(() => { button.textContent = "Copy"; }, 2000);
});
addEventListener("beforeprint", () => {
  for (const folded of document.querySelectorAll("details:not(.long)")) folded.open = true;
});
