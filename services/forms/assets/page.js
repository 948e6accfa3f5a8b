// What a page does beside showing itself: tell the page that embeds it where things stand, follow the callback, wait, close.
// Nothing here is needed to read or answer a form. Settings are data attributes of <body>; no answer ever leaves through here.
(() => {
  const { page, transaction, state, origin, callback, delay, resizer, underWay } = document.body.dataset;
  const embedded = window.parent !== window;
  // Errors tell nothing: a host page learns of states, not of mishaps.
  const telling = embedded && page !== 'error';
  const ended = ['committed', 'cancelled', 'timeout', 'rolledback'].includes(page);

  /** To the exact origin if the transaction names one, else to whoever embeds the page. */
  function tell(type) {
    if (telling) window.parent.postMessage({ type, transaction, state }, origin || '*');
  }

  /** The words that host pages of this product family know; they travel inside iframe-resizer's own messages. */
  function tellResizer(message) {
    if (telling) window.parentIFrame?.sendMessage(message, origin || '*');
  }

  if (resizer !== undefined) {
    // Read by iframe-resizer's script, which comes after this one.
    window.iFrameResizer = {
      targetOrigin: origin || '*',
      onReady() {
        if (!ended) return;
        tellResizer('sent');
        if (callback) setTimeout(tellResizer, Number(delay), `consent-callback/${callback}`);
      },
    };
  }

  tell('accord:state');

  const focus = document.querySelector('[data-focus]');
  if (focus && document.activeElement !== focus) {
    // The autofocus attribute has no effect in a frame of another origin.
    focus.focus();
  }

  const note = document.querySelector('[data-follow]');
  if (callback && !embedded && note) {
    note.hidden = false;
    const timer = setTimeout(() => location.assign(callback), Number(delay));
    note.querySelector('[data-stay]').addEventListener('click', () => {
      clearTimeout(timer);
      note.hidden = true;
    });
  }

  if (underWay !== undefined) {
    // Some peers have not answered yet. A part that has changed is put in place of the old one; another state is another page.
    const look = async (pause) => {
      const reply = await fetch(location.href, { headers: { Accept: 'text/html' } }).catch(() => undefined);
      const html = reply?.ok ? await reply.text().catch(() => '') : '';
      const fresh = new DOMParser().parseFromString(html, 'text/html');
      const now = fresh.body.dataset;
      if (now.state && now.state !== state) return location.reload();
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
    // Still here: nobody could close it but the reader.
    setTimeout(() => document.getElementById('closed').showPopover?.(), 250);
  });
})();
