/*
 * Everything works without this script. It adds: Copy, a line while a page is fetched, and warnings before
 * something is lost.
 */
const { body } = document;
const main = document.getElementById('main');
const status = document.getElementById('status');

/** Tells a text to all readers, seeing or not; a quiet one stands elsewhere on the page, too. */
function say(text, isQuiet = false) {
  status.classList.toggle('hidden', isQuiet);
  const line = document.createElement('p');
  line.className = 'done';
  line.textContent = text;
  status.replaceChildren(line);
}

/*
 * What a page tells when it opens is put in again, because readers tell only what changes; unless something
 * else is told by then.
 */
const told = status.textContent.trim();
if (told) setTimeout(() => status.textContent.trim() === told && say(told), 100);

/* What needs a script is shown by the style sheet, so that parts that are fetched later have it, too. */
document.documentElement.classList.add('js');
document.documentElement.classList.toggle('copies', navigator.clipboard !== undefined);

document.addEventListener('click', async (event) => {
  const button = event.target.closest?.('[data-copy]');
  if (!button) return;
  const field = document.getElementById(button.dataset.copy);
  field.select();
  // A browser may refuse. The text is selected then, and copied with the keyboard.
  const isCopied = await navigator.clipboard.writeText(field.value).then(
    () => true,
    () => false,
  );
  say(isCopied ? body.dataset.copied : body.dataset.uncopied);
});

document.addEventListener('click', ({ target }) => {
  if (target.closest?.('[data-print]')) print();
});

/* A file fills the field beside it. */
document.addEventListener('change', async ({ target }) => {
  const [file] = target.files ?? [];
  const field = file && document.getElementById(target.dataset.into);
  if (field) field.value = await file.text();
});

/** Panels load by themselves: the person neither waits for them nor asked for what they replace. */
const isPanel = ({ target }) => target?.matches?.('.panel') ?? false;

/* A request that takes longer than 400 ms is told. */
let waiting;
document.addEventListener('htmx:before:request', ({ detail }) => {
  if (isPanel(detail.ctx)) return;
  clearTimeout(waiting);
  waiting = setTimeout(() => {
    main.setAttribute('aria-busy', 'true');
    say(body.dataset.wait);
  }, 400);
});
document.addEventListener('htmx:finally:request', ({ detail }) => {
  if (isPanel(detail.ctx)) return;
  clearTimeout(waiting);
  if (main.getAttribute('aria-busy') !== 'true') return;
  main.removeAttribute('aria-busy');
  status.replaceChildren();
});

/** Opens a page that htmx could not take its part from: an error, or the sign-in. */
function openInstead({ request }) {
  if (request.method === 'GET') location.assign(request.action);
  else say(body.dataset.failed);
}

document.addEventListener('htmx:after:request', (event) => {
  const { ctx } = event.detail;
  if (!ctx.select) return;
  const page = new DOMParser().parseFromString(ctx.text, 'text/html');
  if (page.querySelector(ctx.select)) return;
  event.preventDefault();
  openInstead(ctx);
});
document.addEventListener('htmx:error', (event) => {
  if (event.detail.ctx) openInstead(event.detail.ctx);
});

/* The focus that was in a panel goes to the heading of its successor. */
document.addEventListener('htmx:before:swap', ({ detail: { ctx } }) => {
  ctx.hadFocus = isPanel(ctx) && ctx.target.contains(document.activeElement);
});

function moveFocus({ id }) {
  const heading = document.getElementById(id).querySelector('h2');
  heading.tabIndex = -1;
  heading.focus();
}

/* What came is told, and the summary of faults gets the focus, as on a whole page. */
document.addEventListener('htmx:after:swap', ({ detail: { ctx } }) => {
  if (ctx.hadFocus) moveFocus(ctx.target);
  if (isPanel(ctx)) return;
  const result = document.querySelector('[data-result]')?.dataset.result;
  if (result) say(result, true);
  document.getElementById('faults')?.focus();
});

/* Editors: leaving a changed form is asked first. */
let isChanged = document.querySelector('form[data-guard="changed"]') !== null;
document.addEventListener('input', (event) => {
  if (event.target.closest?.('form[data-guard]') && !event.target.closest('.looks')) isChanged = true;
});
document.addEventListener('submit', ({ target, submitter }) => {
  // Previews save nothing, and other forms of the page, such as the search at the top, send other things.
  if (target.matches('form[data-guard]') && !submitter?.formTarget) isChanged = false;
});
/* Ctrl+S saves, as the first button does. */
document.addEventListener('keydown', (event) => {
  // Keyboards of other scripts have another letter there.
  const isS = /^[a-z]$/i.test(event.key) ? event.key.toLowerCase() === 's' : event.code === 'KeyS';
  if (!isS || !(event.ctrlKey || event.metaKey) || event.altKey || event.shiftKey) return;
  const save = document.querySelector('form[data-guard] [name="op"][value="save"]');
  if (!save) return;
  event.preventDefault();
  save.form.requestSubmit(save);
});
addEventListener('beforeunload', (event) => {
  if (isChanged) event.preventDefault();
});

/* Editors with a preview: 400 ms after something was typed, the frame shows it. */
const live = document.querySelector('form[data-live]');
if (live) watchTyping(live);

function watchTyping(form) {
  let button = form.querySelector('[formtarget]');
  let typing;
  // The frame begins with what is saved.
  if (isChanged) form.requestSubmit(button);
  form.addEventListener('input', ({ target }) => {
    const { lang, dataset } = target.closest('input[lang], [data-language]') ?? {};
    const language = lang || dataset?.language;
    button = [...form.querySelectorAll('[formtarget]')].find(({ value }) => value === language) ?? button;
    clearTimeout(typing);
    typing = setTimeout(() => form.requestSubmit(button), 400);
  });
  form.addEventListener('submit', ({ submitter }) => {
    clearTimeout(typing);
    if (submitter?.formTarget) renewFrame(form);
  });
}

/* How much a language lacks is counted while it is written, by what the page says that it needs. */
const counted = [...document.querySelectorAll('[data-needs]')];
if (counted.length > 0) counted[0].closest('form').addEventListener('input', recount);

function recount({ target }) {
  const { elements } = target.form ?? {};
  const inputs = (name) => [...(elements ?? [])].filter((each) => each.name === name);
  const isBlank = (input) => (input.type === 'checkbox' ? !input.checked : input.value.trim() === '');
  for (const { dataset, firstChild } of counted) {
    const { any, rows } = JSON.parse(dataset.needs);
    const texts = rows ? inputs(rows.name) : [];
    const isUnsaid = rows?.or && texts.length === 0 && inputs(rows.or).every(isBlank);
    const lacking = any.filter((names) => names.flatMap(inputs).every(isBlank));
    const states = JSON.parse(dataset.states);
    const count = lacking.length + texts.filter(isBlank).length + (isUnsaid ? 1 : 0);
    firstChild.data = states[Math.min(count, states.length - 1)];
  }
  for (const note of document.querySelectorAll('[data-lacks]'))
    note.hidden = !inputs(note.dataset.lacks).every(isBlank);
}

/* Who asks for a preview is led to it, where it stands below what is written. */
document.addEventListener('click', ({ target }) => {
  if (target.closest?.('[formtarget]')) live?.querySelector('.live')?.scrollIntoView({ block: 'nearest' });
});

let previews = 0;

/** Adds a frame for the next preview: the first document of a frame makes no entry in the history. */
function renewFrame(form) {
  const frames = [...form.querySelectorAll('iframe')];
  const next = frames[0].cloneNode();
  previews += 1;
  next.name = `preview-${previews}`;
  next.removeAttribute('src');
  next.hidden = true;
  frames.at(-1).after(next);
  for (const button of form.querySelectorAll('[formtarget]')) button.formTarget = next.name;
  next.addEventListener('load', () => {
    next.hidden = false;
    for (const frame of frames) frame.remove();
  });
}

/* Rows are dragged by their handles; the page is asked for again with the new order, which it does not save. */
for (const rows of document.querySelectorAll('[data-sort]')) {
  window.Sortable?.create(rows, {
    handle: '.handle',
    // With the browser's own dragging, rows that move away below the pointer are not passed.
    forceFallback: true,
    animation: matchMedia('(prefers-reduced-motion: reduce)').matches ? 0 : 120,
    onEnd({ oldIndex, newIndex }) {
      if (oldIndex === newIndex) return;
      const button = document.querySelector('[data-dropped]');
      button.value = `dropped:${newIndex}`;
      button.form.requestSubmit(button);
    },
  });
}

/*
 * Before the session would end for want of use, a dialog offers to stay and tells how much time is left. Any page of the console
 * that is used, in whichever tab, puts it off.
 */
const idle = document.getElementById('idle');
if (idle) watchIdle();

function watchIdle() {
  const seconds = Number(body.dataset.idle);
  const used = new BroadcastChannel('accord-console');
  let asking;
  const wait = () => {
    clearTimeout(asking);
    if (idle.open) idle.close('elsewhere');
    asking = setTimeout(() => idle.showModal(), (seconds - Number(body.dataset.leaving)) * 1000);
  };
  const use = () => {
    used.postMessage('used');
    wait();
  };
  used.addEventListener('message', wait);
  document.addEventListener('htmx:after:request', use);
  idle.addEventListener('close', async () => {
    const { returnValue } = idle;
    idle.returnValue = '';
    if (returnValue === 'elsewhere') return;
    const failed = { ok: false, type: 'error' };
    const { ok, type } = await fetch(body.dataset.stay, { redirect: 'manual' }).catch(() => failed);
    if (ok) use();
    // Without a session every page leads to the sign-in.
    else say(type === 'opaqueredirect' ? body.dataset.ended : body.dataset.failed);
  });
  use();
}
