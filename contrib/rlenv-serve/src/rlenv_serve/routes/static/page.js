// Which view is shown, and how the server is asked. Nothing that a server says is ever read as HTML.
import { comparison, overview, trajectory } from "/assets/views.js";

const main = document.getElementById("main");
const form = document.getElementById("key");
const REFRESH = 5000;
let timer = 0;

async function ask(path) {
  const key = sessionStorage.getItem("key");
  const answer = await fetch(path, { headers: key ? { "X-API-Key": key } : {} });
  form.hidden = answer.status !== 401 && !key;
  const body = await answer.json();
  if (!answer.ok) throw new Error(body.detail || `${answer.status}`);
  return body;
}

const ROUTES = [
  [/^#\/trajectories\/([^/]+)$/, async (id) => trajectory(await ask(`/trajectories/${id}`))],
  [/^#\/compare\/([^/]+)\/([^/]+)$/, async (a, b) => comparison(await ask(`/trajectories/${a}`), await ask(`/trajectories/${b}`))],
  [/^/, async () => overview(await ask("/environments"), await ask("/episodes"), await ask("/trajectories?limit=50"))],
];

async function show({ focus = true } = {}) {
  clearTimeout(timer);
  const hash = location.hash;
  const [pattern, view] = ROUTES.find(([each]) => each.test(hash));
  let made;
  try {
    made = await view(...hash.match(pattern).slice(1).map(encodeURIComponent));
  } catch (error) {
    made = document.createElement("p");
    made.className = "error";
    made.setAttribute("role", "alert");
    made.textContent = error.message;
  }
  if (hash !== location.hash) return;
  const chosen = [...main.querySelectorAll("input:checked")].map((each) => each.value);
  const active = document.activeElement?.dataset?.key;
  main.replaceChildren(made);
  for (const each of main.querySelectorAll("input[type=checkbox]")) each.checked = chosen.includes(each.value);
  main.querySelector("form.compare")?.dispatchEvent(new Event("change"));
  if (active) main.querySelector(`[data-key="${CSS.escape(active)}"]`)?.focus();
  else if (focus) main.focus({ preventScroll: true });
  document.documentElement.dataset.ready = hash || "#/";
  if (ROUTES.at(-1)[0] === pattern) timer = setTimeout(() => show({ focus: false }), REFRESH);
}

form.addEventListener("submit", (event) => {
  event.preventDefault();
  sessionStorage.setItem("key", new FormData(form).get("key"));
  form.reset();
  show();
});
addEventListener("hashchange", () => show());
document.querySelector(".skip").addEventListener("click", (event) => {
  event.preventDefault();
  main.focus();
});
show({ focus: false });
