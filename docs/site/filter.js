// A field that leaves on the page only the entries and rows that hold what is typed.
for (const field of document.querySelectorAll("input.filter")) {
  field.placeholder = "filter";
  const entries = [];
  for (const title of document.querySelectorAll(".md-content h3")) {
    const parts = [title];
    for (let next = title.nextElementSibling; next && !/^H[123]$/.test(next.tagName); next = next.nextElementSibling) parts.push(next);
    entries.push(parts);
  }
  if (!entries.length) for (const row of document.querySelectorAll(".md-content tbody tr")) entries.push([row]);
  field.addEventListener("input", () => {
    const wanted = field.value.toLowerCase().split(/\s+/);
    for (const parts of entries) {
      const text = parts.map((part) => part.textContent).join(" ").toLowerCase();
      const hidden = !wanted.every((word) => text.includes(word));
      for (const part of parts) part.hidden = hidden;
    }
  });
}
