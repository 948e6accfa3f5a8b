// What a page does beside showing itself: tell the page that embeds it where things stand, follow the callback, wait, close.
// Nothing here is needed to read or answer a form. Settings are data attributes of <body>; no answer ever leaves through here.
(() => {
  const { page, transaction, state, origin, callback, delay, resizer, underWay, code } =
    document.body.dataset;
  const embedded = window.parent !== window;
  // A window that a script opened reports to its opener, but only to the origin that the transaction names.
  const receiver = embedded ? window.parent : window.opener;
  const receiverOrigin = origin || (embedded ? '*' : '');
  const ended = ['committed', 'cancelled', 'timeout', 'rolledback'].includes(page);

  /** To the exact origin if the transaction names one, else to the embedding page. Of an error its code alone. */
  function tell(type) {
    const message = code ? { type, code } : { type, transaction, state };
    if (receiver && receiverOrigin) receiver.postMessage(message, receiverOrigin);
  }

  /** The words that host pages of this product family know; they travel inside iframe-resizer's own messages. */
  function tellResizer(message) {
    if (embedded) window.parentIFrame?.sendMessage(message, origin || '*');
  }

  // Sending a form leads to this fragment (services/transactions/http/send.ts). It is taken out of the address at once, so
  // Back, a reload, a bookmark and a link that was passed on are never followed by a redirect (WCAG 2.2.1).
  const sentMark = '#sent';
  const interactions = ['pointerdown', 'wheel', 'touchstart', 'keydown', 'focusin', 'click', 'pagehide'];
  const [navigation] = performance.getEntriesByType('navigation');
  const justSent = location.hash === sentMark && navigation?.type !== 'back_forward';
  if (location.hash === sentMark) history.replaceState(history.state, '', location.href.split('#')[0]);

  if (resizer !== undefined) {
    // Read by iframe-resizer's script, which comes after this one.
    window.iFrameResizer = {
      targetOrigin: origin || '*',
      onReady() {
        if (!ended) return;
        tellResizer('sent');
        if (justSent && callback) countDown(() => tellResizer(`consent-callback/${callback}`));
      },
    };
  }
  if (justSent && callback && ended && !embedded) countDown(() => location.assign(callback));

  /** Shows the note and calls `follow` after the delay, unless the person does anything on the page before. */
  function countDown(follow) {
    const note = document.querySelector('[data-follow]');
    const [text, announced, stay] = ['[data-left]', '[data-announced]', '[data-stay]'].map((part) =>
      note.querySelector(part),
    );
    const end = performance.now() + Number(delay);
    const sentence = () => {
      const seconds = Math.max(1, Math.ceil((end - performance.now()) / 1000));
      const [value, unit] = seconds > 120 ? [Math.ceil(seconds / 60), 'minute'] : [seconds, 'second'];
      const format = { style: 'unit', unit, unitDisplay: 'long' };
      const time = new Intl.NumberFormat(document.documentElement.lang, format).format(value);
      return { seconds, sentence: text.dataset.left.replace('{time}', time) };
    };
    // The text that changes is not part of the live region: it is announced once at the start, and again at 30 and at 10 seconds.
    const show = () => {
      const { seconds, sentence: shown } = sentence();
      text.textContent = shown;
      if (announced.textContent === '' || seconds === 30 || seconds === 10) announced.textContent = shown;
    };
    const ticking = setInterval(show, 1000);
    const timer = setTimeout(() => {
      stop();
      note.hidden = true;
      follow();
    }, Number(delay));
    const stop = () => {
      clearInterval(ticking);
      clearTimeout(timer);
      for (const type of interactions) window.removeEventListener(type, keep, true);
    };
    // The note and its button keep their places, so that nothing moves below a pointer that is pressed.
    const hideButton = () => note.classList.add('is-over');
    const keep = ({ type, target }) => {
      stop();
      text.textContent = note.dataset.follow;
      announced.textContent = note.dataset.follow;
      if (target !== stay) hideButton();
      if (type !== 'pagehide') tell('accord:stay');
    };
    for (const type of interactions) window.addEventListener(type, keep, { capture: true, passive: true });
    for (const type of ['click', 'blur']) stay.addEventListener(type, hideButton);
    note.hidden = false;
    show();
  }

  tell(code ? 'accord:error' : 'accord:state');

  const focus = document.querySelector('[data-focus]');
  if (focus && document.activeElement !== focus) {
    // The autofocus attribute has no effect in a frame of another origin.
    focus.focus();
  }

  document.querySelector('.notice-fault')?.addEventListener('click', (event) => {
    const field = document.getElementById(event.target.closest('a')?.hash.slice(1) ?? '');
    if (!field) return;
    event.preventDefault();
    // The fragment alone would put the field, and not its title and error, at the top; in a frame it would not move the page around it.
    (field.closest('.question') ?? field.parentElement).scrollIntoView();
    field.focus({ preventScroll: true });
  });

  const cancel = document.getElementById('cancel');
  const confirmation = document.getElementById('cancel-question');
  if (cancel && confirmation) {
    const choices = document.getElementById('choices');
    const isEntered = () =>
      choices.dataset.entered !== undefined ||
      [...choices.elements].some(
        (field) =>
          field.checked !== field.defaultChecked ||
          (field.localName === 'textarea' && field.value !== field.defaultValue) ||
          (field.localName === 'select' &&
            !field.selectedOptions[0]?.defaultSelected &&
            field.selectedIndex > 0),
      );
    const close = () => {
      confirmation.hidden = true;
      choices.querySelector('[form=cancel]').focus();
    };
    cancel.addEventListener('submit', (event) => {
      if (!confirmation.hidden || !isEntered()) return;
      event.preventDefault();
      confirmation.hidden = false;
      confirmation.scrollIntoView({ block: 'nearest' });
      confirmation.querySelector('[data-keep]').focus({ preventScroll: true });
    });
    confirmation.querySelector('[data-keep]').addEventListener('click', close);
    confirmation.addEventListener('keydown', ({ key }) => key === 'Escape' && close());
  }

  if (underWay !== undefined) {
    // Some peers have not answered yet. A part that has changed is put in place of the old one; another state is another page.
    const look = async (pause) => {
      const reply = await fetch(location.href, { headers: { Accept: 'text/html' } }).catch(() => undefined);
      const html = reply?.ok ? await reply.text().catch(() => '') : '';
      const fresh = new DOMParser().parseFromString(html, 'text/html');
      const now = fresh.body.dataset;
      if (now.state && now.state !== state) {
        // The final state is where this load of the page was going.
        if (justSent) history.replaceState(history.state, '', sentMark);
        return location.reload();
      }
      if (now.state) renewParts(fresh);
      if (now.state && now.underWay === undefined) document.querySelector('[data-again]')?.remove();
      else setTimeout(look, pause, Math.min(2 * pause, 60_000));
    };
    setTimeout(look, 1_000, 2_000);
  }

  function renewParts(fresh) {
    const shown = document.querySelectorAll('[data-parts] > *');
    const parts = fresh.querySelectorAll('[data-parts] > *');
    shown.forEach((part, index) => {
      if (parts[index] && !part.isEqualNode(parts[index])) part.replaceWith(parts[index]);
    });
  }

  for (const button of document.querySelectorAll('[data-print]')) {
    button.hidden = false;
    button.addEventListener('click', () => window.print());
  }

  document.querySelector('[data-close]')?.addEventListener('click', (event) => {
    event.preventDefault();
    tell('accord:close');
    if (window.parentIFrame) window.parentIFrame.close();
    else if (!embedded) window.close();
    const closed = document.getElementById('closed');
    // A person cannot close a frame: what happens to it is up to the page around it.
    if (embedded) closed.textContent = closed.dataset.framed;
    // The page is still shown, so it could not be closed by a script.
    setTimeout(() => closed.showPopover?.(), 250);
  });
})();
