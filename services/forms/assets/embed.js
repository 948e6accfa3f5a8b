// Embeds a form in a page of another site:
//
//   <div id="consent"></div>
//   <script src="https://consent.example/assets/embed.js" data-target="#consent"
//           data-src="https://consent.example/consents/…?t=…" defer></script>
//
// or, later: Accord.embed(element, url, { title }). The frame fits its content, and these events bubble from the element, each
// with `detail` {transaction, state}: accord:ready, accord:committed, accord:cancelled, accord:timeout, accord:rollback,
// accord:close (the subject pressed Close; preventDefault keeps the frame) and accord:callback with `detail.url`
// (the form wants to go on to the callback; preventDefault keeps the page).
(() => {
  const titles = { en: 'Consent form', fr: 'Formulaire de consentement', ar: 'نموذج الموافقة' };
  const eventOf = {
    CREATED: 'accord:ready',
    SUBMITTED: 'accord:submitted',
    COMMITTED: 'accord:committed',
    CANCELLED: 'accord:cancelled',
    TIMEOUT: 'accord:timeout',
    ROLLBACK: 'accord:rollback',
  };

  function embed(target, url, { title } = {}) {
    const { origin, href } = new URL(url, document.baseURI);
    const frame = document.createElement('iframe');
    frame.title = title || titles[document.documentElement.lang.slice(0, 2)] || titles.en;
    frame.src = href;
    // Room for a short form from the start, so that the page below moves as little as possible.
    Object.assign(frame.style, {
      display: 'block',
      width: '100%',
      minWidth: '100%',
      height: '40rem',
      border: '0',
    });
    target.append(frame);

    const report = (name, detail) =>
      target.dispatchEvent(new CustomEvent(name, { bubbles: true, cancelable: true, detail }));
    let loads = 0;
    let last = {};

    const listen = (event) => {
      if (event.source !== frame.contentWindow || event.origin !== origin) return;
      const { type, transaction, state } = event.data ?? {};
      if (type !== 'accord:state') return;
      const news = transaction !== last.transaction || state !== last.state;
      last = { transaction, state };
      // A sent form is followed by a shorter page: bring its beginning into view.
      if (loads++ > 0 && frame.getBoundingClientRect().top < 0) frame.scrollIntoView();
      if (news) report(eventOf[state] ?? 'accord:state', { ...last });
    };
    window.addEventListener('message', listen);

    window.iFrameResize(
      {
        checkOrigin: [origin],
        warningTimeout: 0,
        onMessage({ message }) {
          const url =
            typeof message === 'string' && message.startsWith('consent-callback/') ? message.slice(17) : '';
          if (/^https?:\/\//i.test(url) && report('accord:callback', { ...last, url }))
            window.location.assign(url);
        },
        onClose: () => report('accord:close', { ...last }),
        onClosed: () => window.removeEventListener('message', listen),
      },
      frame,
    );
    return frame;
  }

  window.Accord = { embed };

  const { currentScript } = document;
  const { src, target, title } = currentScript?.dataset ?? {};
  if (!src) return;
  const start = () => {
    const element = target ? document.querySelector(target) : currentScript.parentElement;
    if (!element) throw new Error(`Accord: there is no element ${target}`);
    embed(element, src, { title });
  };
  if (document.readyState === 'loading' && target && !document.querySelector(target)) {
    document.addEventListener('DOMContentLoaded', start, { once: true });
  } else start();
})();
