const $ = (id) => document.getElementById(id);

// Elements: nothing that is told becomes markup, but for what the server rendered.
function made(tag, attributes, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (value === true) element.setAttribute(name, "");
    else if (value !== false) element.setAttribute(name, value);
  }
  element.append(...children);
  return element;
}

// What is asked, and what is told: a line of JSON for each thing that is known.
async function tell(wanted, one, heard, signal) {
  const answer = await fetch(`${location.pathname}/ask`, {
    method: "POST", body: JSON.stringify({ want: wanted, ...one }), signal,
  });
  if (!answer.ok) throw new Error(answer.status === 503 ? "too many answers are under way: stop one" : `refused: ${answer.status}`);
  const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  for (;;) {
    const { value, done } = await reader.read();
    if (done) return;
    const lines = (rest + value).split("\n");
    rest = lines.pop();
    for (const line of lines) heard(JSON.parse(line));
  }
}

function fail(text) {
  $("error").hidden = !text;
  $("error").textContent = text;
}
