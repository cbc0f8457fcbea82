/* Lifting a card: by mouse after 5 px, by finger after a rest, by keyboard with Space. A card can be dropped on a stage, on Win or on Lose. */

const MOUSE_SLACK = 5;
const FINGER_SLACK = 8;
const REST = 350;
const EDGE = 60;

let press = null;
let ghost = null;
// Whether the pointer that is down has dragged, also if Escape has ended that.
let hasDragged = false;

const targetsOf = board => [...board.columns.map(({ id }) => String(id)), "gain", "lost"];
const targetName = target => ({ gain: text.win, lost: text.lose })[target] ?? columnOf(state.board.funnel, Number(target))?.name ?? "";

function liftCard(id, mode) {
  state.lift = { id, mode, over: String(shown(id).crm_column) };
  state.notice = null;
  say(text.lifted(shown(id).title));
}

function overTarget(target) {
  if (!state.lift || state.lift.over === target) return;
  state.lift.over = target;
  const all = targetsOf(state.board);
  if (target) say(text.over(targetName(target), all.indexOf(target) + 1, all.length));
  draw();
}

/* Ends the lifting. Without a target the card stays where it is. */
function dropCard(target) {
  const { id } = state.lift;
  state.lift = null;
  removeGhost();
  if (!target) say(text.backAgain(shown(id).title));
  else if (target === "gain") shown(id).status === "gain" ? say(text.backAgain(shown(id).title)) : win(id);
  else if (target === "lost") askLoss(id);
  else move(id, Number(target));
  draw();
}

function cancelLift() {
  clearTimeout(press?.timer);
  press = null;
  if (state.lift) {
    const { id } = state.lift;
    dropCard(null);
    focusCard(id);
  }
}

function askLoss(id) {
  Object.assign(state, { lose: id, menu: null });
  draw();
}

/* Pointers */

function pressCard(event) {
  const card = event.target.closest("[data-id]");
  if (!card || event.button || !event.isPrimary || !may("editOpportunities") || event.target.closest("button") || state.lift) return;
  const finger = event.pointerType !== "mouse";
  press = { id: Number(card.dataset.id), card, x: event.clientX, y: event.clientY, finger };
  if (finger) press.timer = setTimeout(() => beginDrag(press), REST);
}

function beginDrag({ id, card, x, y, finger }) {
  clearTimeout(press.timer);
  hasDragged = true;
  const box = card.getBoundingClientRect();
  ghost = card.cloneNode(true);
  for (const part of [ghost, ...ghost.querySelectorAll("[id], [data-id], a")]) for (const name of ["id", "data-id", "href", "aria-describedby"]) part.removeAttribute(name);
  ghost.className = "card ghost";
  ghost.ariaHidden = "true";
  ghost.style.width = `${box.width}px`;
  Object.assign(press, { dx: box.left - x, dy: finger ? -box.height - 28 : box.top - y });
  document.getElementById("float").append(ghost);
  if (finger && navigator.userActivation?.hasBeenActive) navigator.vibrate?.(15);
  liftCard(id, finger ? "finger" : "mouse");
  dragTo(x, y);
  requestAnimationFrame(scrollEdges);
}

function dragTo(x, y) {
  Object.assign(press, { x, y });
  ghost.style.transform = `translate(${x + press.dx}px, ${y + press.dy}px) rotate(1.5deg)`;
  const found = document.elementsFromPoint(x, y).map(element => element.closest("[data-drop]")).find(Boolean);
  overTarget(found?.dataset.drop ?? null);
}

/* Scrolls the board while a mouse holds a card near its edge. A finger has all stages in the bar. */
function scrollEdges() {
  if (!state.lift || !press || press.finger) return;
  const board = document.querySelector(".columns");
  if (!board) return;
  const { left, right } = board.getBoundingClientRect();
  const speed = press.x < left + EDGE ? -1 : press.x > right - EDGE ? 1 : 0;
  if (speed) {
    board.scrollLeft += speed * 14;
    dragTo(press.x, press.y);
  }
  requestAnimationFrame(scrollEdges);
}

function removeGhost() {
  ghost?.remove();
  ghost = null;
}

const isDragged = () => Boolean(state.lift && press);

document.addEventListener("pointerdown", ({ isPrimary }) => { if (isPrimary) hasDragged = false; }, { capture: true });
document.addEventListener("pointermove", event => {
  if (!press || !event.isPrimary) return;
  if (state.lift) return dragTo(event.clientX, event.clientY);
  const distance = Math.hypot(event.clientX - press.x, event.clientY - press.y);
  if (press.finger && distance > FINGER_SLACK) {
    clearTimeout(press.timer);
    press = null;
  } else if (!press.finger && distance > MOUSE_SLACK) {
    beginDrag(press);
    dragTo(event.clientX, event.clientY);
  }
});
document.addEventListener("pointerup", ({ isPrimary }) => {
  if (!isPrimary) return;
  clearTimeout(press?.timer);
  const dragged = isDragged();
  press = null;
  if (!hasDragged) return;
  const swallow = event => {
    event.preventDefault();
    event.stopPropagation();
  };
  document.addEventListener("click", swallow, { capture: true });
  setTimeout(() => document.removeEventListener("click", swallow, { capture: true }), 30);
  if (dragged) dropCard(state.lift.over);
});
document.addEventListener("pointercancel", cancelLift);
addEventListener("blur", () => isDragged() && cancelLift());
// The page scrolls by finger unless a card is lifted. A long press opens no menu of the browser.
document.addEventListener("touchmove", event => isDragged() && event.preventDefault(), { passive: false });
document.addEventListener("contextmenu", event => press?.finger && event.preventDefault());
document.addEventListener("dragstart", event => event.target.closest?.("[data-id]") && event.preventDefault());
document.addEventListener("keydown", event => {
  if (event.key !== "Escape" || !isDragged()) return;
  event.preventDefault();
  cancelLift();
});

// A card that is lifted by keys stays where it is if the focus leaves it.
document.addEventListener("focusout", () => setTimeout(() => {
  const { lift } = state;
  if (lift?.mode === "keys" && !document.activeElement.closest(`[data-id="${lift.id}"]`)) dropCard(null);
}));

/* Keys on a card */

function pressKey(event) {
  const card = event.target.closest("[data-id]");
  if (!card || event.ctrlKey || event.metaKey || event.altKey || !event.target.matches(".title a")) return;
  const id = Number(card.dataset.id);
  const isDone = state.lift ? keyLifted(event) : keyOnCard(event.key, id);
  if (isDone) event.preventDefault();
}

function keyLifted({ key }) {
  const all = targetsOf(state.board);
  const at = all.indexOf(state.lift.over);
  if (key === "ArrowRight" || key === "ArrowDown") overTarget(all[Math.min(at + 1, all.length - 1)]);
  else if (key === "ArrowLeft" || key === "ArrowUp") overTarget(all[Math.max(at - 1, 0)]);
  else if (key === "Home") overTarget(all[0]);
  else if (key === "End") overTarget(all.at(-1));
  else if (key === " " || key === "Enter") dropCard(state.lift.over);
  else if (key === "Escape" || key === "Tab") cancelLift();
  return key !== "Tab";
}

function keyOnCard(key, id) {
  if (key === " ") {
    if (may("editOpportunities")) liftCard(id, "keys");
    return true;
  }
  if (key.toLowerCase() === "m") {
    if (may("editOpportunities")) openMenu(id);
    return true;
  }
  return walk(key, id);
}

/* Moves the focus over the board: arrows, Home, End. At the end of a column its next cards are loaded. */
function walk(key, id) {
  const columns = layout(state.board);
  const x = columns.findIndex(({ records }) => records.some(record => record.id === id));
  const y = columns[x]?.records.findIndex(record => record.id === id);
  const inColumn = { ArrowDown: y + 1, ArrowUp: y - 1, Home: 0, End: (columns[x]?.records.length ?? 0) - 1 }[key];
  if (inColumn !== undefined) {
    const next = columns[x].records[inColumn];
    if (next) goTo(next.id);
    else if (key === "ArrowDown" && !columns[x].ends) nextPage(columns[x].id, id);
    return true;
  }
  const step = { ArrowRight: 1, ArrowLeft: -1 }[key];
  if (!step) return false;
  for (let i = x + step; columns[i]; i += step) {
    const { records } = columns[i];
    if (records.length) return goTo(records[Math.min(y, records.length - 1)].id);
  }
  return true;
}
/* Draws first, because the card may be in a page that was away from the screen. */
function goTo(id) {
  state.stop = id;
  draw();
  queueMicrotask(() => {
    const link = document.querySelector(`[data-id="${id}"] .title a`);
    link?.focus({ preventScroll: true });
    link?.closest(".card").scrollIntoView({ block: "nearest", inline: "nearest" });
  });
  return true;
}
async function nextPage(column, id) {
  const loading = state.board.columns.find(one => one.id === column);
  const before = loading.held;
  await more(state.board, loading);
  if (loading.held > before) afterDraw(() => walk("ArrowDown", id));
}

function openMenu(id) {
  const box = document.querySelector(`[data-id="${id}"] .dots`)?.getBoundingClientRect();
  state.menu = { id, x: box?.right ?? 0, y: box?.bottom ?? 0 };
  draw();
}
