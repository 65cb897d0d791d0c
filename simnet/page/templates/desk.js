let asking = null;

function busy(text) {
  $("state").classList.toggle("still", !asking);
  $("said").textContent = text;
  for (const id of ["diagnose", "host"]) $(id).disabled = Boolean(asking) || !$("text").value.trim();
  for (const id of ["live", "here"]) $(id).disabled = Boolean(asking);
}

async function work(wanted, one, during) {
  const mine = asking = new AbortController();
  fail("");
  busy(`${during} …`);
  try {
    await tell(wanted, one, (told) => {
      if (told.error) fail(told.error);
      if (told.answer) {
        $("answer").innerHTML = told.answer;
        $("answer").scrollIntoView({ block: "start" });
      }
      if (told.place) location.href = location.pathname.replace(/\/$/, "") + told.place;
    }, mine.signal);
  } catch (error) {
    if (error.name !== "AbortError") fail(error instanceof TypeError ? "The server does not answer: is it still running?" : error.message);
  }
  asking = null;
  busy("");
}

$("text").addEventListener("input", () => busy(""));
$("files").addEventListener("change", async (event) => {
  const texts = await Promise.all([...event.target.files].map(async (file) => `==> ${file.name} <==\n${await file.text()}\n`));
  $("text").value += texts.join("");
  busy("");
});
$("diagnose").addEventListener("click", () => work("diagnose", { text: $("text").value }, "Reading"));
$("host").addEventListener("click", () => work("host", { text: $("text").value }, "Making a host of it"));
$("live").addEventListener("click", () => work("live", {}, "Looking at this machine, five seconds at most"));
$("here").addEventListener("click", () => work("host", { here: true }, "Reading this machine"));
$("stop").addEventListener("click", () => asking?.abort());
busy("");
