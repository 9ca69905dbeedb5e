// Renews the figures of an open page, and remembers the theme. Pages work without it.
"use strict";

const root = document.documentElement;
const THEMES = ["auto", "light", "dark"];

function storedTheme() {
  try {
    const kept = localStorage.getItem("lithify-theme");
    return THEMES.includes(kept) ? kept : "auto";
  } catch {
    return "auto"; // storage may be forbidden
  }
}

function useTheme(theme) {
  if (theme === "auto") delete root.dataset.theme;
  else root.dataset.theme = theme;
}

// At once, before anything is drawn: no flash of the other theme.
useTheme(storedTheme());

function offerTheme() {
  const button = document.getElementById("theme");
  const name = () => { button.textContent = `Theme: ${storedTheme()}`; };
  button.addEventListener("click", () => {
    const next = THEMES[(THEMES.indexOf(storedTheme()) + 1) % THEMES.length];
    try { localStorage.setItem("lithify-theme", next); } catch { /* then for this page only */ }
    useTheme(next);
    name();
  });
  name();
  button.hidden = false;
}

function tell(state, words) {
  const feed = document.getElementById("feed");
  if (feed.dataset.feedState === state) return;
  feed.dataset.feedState = state;
  feed.textContent = words;
}

// Numbers change every second, which nobody wants read out; what is announced is a stage that changes its state.
function announce(words) {
  if (words.length) document.getElementById("announcement").textContent = words.join("; ");
}

function renew(board) {
  for (const place of document.querySelectorAll("[data-live]")) {
    const text = board.words[place.dataset.live];
    if (text !== undefined && place.textContent !== text) place.textContent = text;
  }
  for (const line of document.querySelectorAll("[data-live-points]")) {
    line.setAttribute("points", board.points[line.dataset.livePoints] ?? "");
  }
  const changes = [];
  for (const place of document.querySelectorAll("[data-live-state]")) {
    const state = board.states[place.dataset.liveState];
    if (state === undefined || place.dataset.state === state) continue;
    place.dataset.state = state;
    const row = place.closest("tr, .tile");
    const name = row && row.querySelector("th, h2");
    if (name) changes.push(`${name.textContent.trim()}: ${state}`);
  }
  announce(changes);
}

// Rows have come or gone: the region is drawn anew by the server, unless somebody is at work in it.
let redrawing = false;
async function redraw() {
  const region = document.getElementById("region");
  if (redrawing || region.contains(document.activeElement)) return;
  redrawing = true;
  try {
    const answer = await fetch(location.href, { headers: { accept: "text/html" } });
    const page = new DOMParser().parseFromString(await answer.text(), "text/html");
    const drawn = page.getElementById("region");
    if (answer.ok && drawn && page.body.dataset.shape) {
      region.replaceChildren(...document.importNode(drawn, true).childNodes);
      document.body.dataset.shape = page.body.dataset.shape;
    }
  } catch {
    // the next second tries again
  } finally {
    redrawing = false;
  }
}

function listen() {
  const source = new EventSource(document.body.dataset.feed);
  source.addEventListener("message", (event) => {
    const board = JSON.parse(event.data);
    tell("live", "live");
    if (board.shape === document.body.dataset.shape) renew(board);
    else redraw();
  });
  source.addEventListener("trouble", () => tell("lost", "Redis does not answer"));
  // The browser connects again by itself, except where it was refused: then a reload leads to the login.
  source.addEventListener("error", () => tell("lost", source.readyState === EventSource.CLOSED ? "ended: reload" : "connecting again"));
  addEventListener("pagehide", () => source.close());
  addEventListener("pageshow", (event) => { if (event.persisted) location.reload(); });
}

addEventListener("DOMContentLoaded", () => {
  offerTheme();
  if (document.body.dataset.feed) listen();
});
