// Opens a run's timeline in Perfetto: sends messages to Perfetto's window until it answers, then sends the trace. The trace is
// sent only to that window, to no server. If no window opens or answers, the browser downloads the trace instead.

const perfetto = "https://ui.perfetto.dev";
const patience = 20000; // limit for Perfetto's answer in ms

export async function open(button) {
  const address = new URL(button.dataset.perfetto, location.href);
  const page = window.open(perfetto);
  const download = () => Object.assign(document.createElement("a"), { href: address, download: "" }).click();
  if (!page) return download();
  const response = await fetch(address);
  if (!response.ok) return download();
  const trace = await response.arrayBuffer();
  const asking = setInterval(() => page.postMessage("PING", perfetto), 100);
  const stop = () => {
    clearInterval(asking);
    clearTimeout(waiting);
    removeEventListener("message", answered);
  };
  const waiting = setTimeout(() => {
    stop();
    download();
  }, patience);
  function answered(event) {
    if (event.origin !== perfetto || event.source !== page || event.data !== "PONG") return;
    stop();
    page.postMessage({ perfetto: { buffer: trace, title: document.title, fileName: address.pathname.split("/").at(-1), url: location.href } }, perfetto);
  }
  addEventListener("message", answered);
}
