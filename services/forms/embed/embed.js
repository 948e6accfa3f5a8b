/**
 * Embeds a form of Accord in a page of another site. The frame fits its content; what happens in it is told as events that bubble
 * from the element. docs/embedding.md lists them.
 */

/**
 * @typedef {object} EmbedOptions
 * @property {string} [title] Name of the frame for assistive technology. Default: "Consent form" in the language of the page.
 * @property {'auto' | 'light' | 'dark'} [colorScheme] Colours of the form; `auto`, the default, follows the page.
 * @property {(event: CustomEvent<AccordDetail>) => void} [onEvent] Called with every event, for frameworks that prefer a function.
 */

/**
 * @typedef {object} AccordDetail
 * @property {string} [transaction] Id of the transaction.
 * @property {'CREATED' | 'SUBMITTED' | 'COMMITTED' | 'CANCELLED' | 'TIMEOUT' | 'ROLLBACK'} [state] State of the transaction.
 * @property {string} [url] Only of `accord:callback`: the page to go to.
 * @property {string} [code] Only of `accord:error`: a problem code, see /docs/problems.
 */

/**
 * @typedef {object} Embedded
 * @property {HTMLIFrameElement} frame
 * @property {() => void} remove Removes the frame and every listener and timer. Dispatches no event. May be called again.
 */

/** @type {Record<string, string>} */
const titles = { en: 'Consent form', fr: 'Formulaire de consentement', ar: 'نموذج الموافقة' };

/** @type {Record<string, string>} */
const eventOf = {
  CREATED: 'ready',
  SUBMITTED: 'submitted',
  COMMITTED: 'committed',
  CANCELLED: 'cancelled',
  TIMEOUT: 'timeout',
  ROLLBACK: 'rollback',
};

/** Milliseconds until a form that has sent no message counts as unreachable. */
const patience = 9_000;

/**
 * Adds a frame with a form to an element.
 * @param {Element | string} target The element, or a selector of it.
 * @param {string | URL} url URL of a transaction, as `POST /consents` answers it.
 * @param {EmbedOptions} [options]
 * @returns {Embedded}
 */
export function embed(target, url, { title, colorScheme = 'auto', onEvent } = {}) {
  const element = typeof target === 'string' ? document.querySelector(target) : target;
  if (!element) throw new Error(`Accord: there is no element ${target}`);
  const address = new URL(url, document.baseURI);
  const { origin } = address;
  const colors = colorScheme === 'auto' ? pageColors(element) : colorScheme;
  if (colors !== 'auto') address.searchParams.set('colorScheme', colors);
  const frame = document.createElement('iframe');
  frame.title = title || titles[document.documentElement.lang.slice(0, 2)] || titles.en || '';
  frame.src = address.href;
  // Room for a short form from the start, so that the page below moves as little as possible. An empty frame is drawn opaque when
  // its color scheme is not that of the page: `normal` avoids a white flash on a dark page.
  const style = { display: 'block', width: '100%', minWidth: '100%', height: '40rem', border: '0' };
  Object.assign(frame.style, style, { borderRadius: '0.625rem', colorScheme: 'normal' });

  /** @type {AccordDetail} */
  let last = {};
  let pages = 0;

  /** @param {string} name @param {AccordDetail} detail @returns {boolean} false if the page cancelled the event. */
  function report(name, detail) {
    const event = new CustomEvent(`accord:${name}`, { bubbles: true, cancelable: true, detail });
    onEvent?.(event);
    return element?.dispatchEvent(event) ?? true;
  }

  /** @param {Record<string, string>} message */
  function heard({ type, transaction, state, code }) {
    clearTimeout(timer);
    if (type === 'accord:close') {
      if (report('close', { ...last })) remove();
    } else if (type === 'accord:stay') report('stay', { ...last });
    else if (type === 'accord:state' || type === 'accord:error') {
      // A sent form is followed by a shorter page: bring its beginning into view.
      if (pages++ > 0 && frame.getBoundingClientRect().top < 0) frame.scrollIntoView();
      if (type === 'accord:error') return report('error', { code });
      const news = transaction !== last.transaction || state !== last.state;
      last = /** @type {AccordDetail} */ ({ transaction, state });
      const name = eventOf[state ?? ''];
      if (news && name) report(name, { ...last });
    }
    return undefined;
  }

  /** The messages of iframe-resizer 4, which the pages of a form send beside their own. @param {string} message */
  function resized(message) {
    if (message === '[iFrameResizerChild]Ready') {
      canResize = true;
      const settings =
        'accord:8:false:false:32:true:true:null:bodyOffset:null:null:0:false:child:scroll:false';
      frame.contentWindow?.postMessage(`[iFrameSizer]${settings}`, origin);
    }
    const [, height, , type, text = ''] =
      /^\[iFrameSizer\]accord:([\d.]+):([\d.]+):(\w+)(?::(.*))?$/s.exec(message) ?? [];
    if (type === 'message') follow(text);
    else if (Number(height) > 0 && type !== 'close') frame.style.height = `${height}px`;
  }

  /** @param {string} text JSON of what iframe-resizer hosts are told. */
  function follow(text) {
    const prefix = '"consent-callback/';
    const next = text.startsWith(prefix) ? JSON.parse(text).slice(prefix.length - 1) : '';
    if (/^https?:\/\//i.test(next) && report('callback', { ...last, url: next }))
      window.location.assign(next);
  }

  /** @param {MessageEvent} event */
  function listen({ source, origin: sender, data }) {
    // Taken out of the document by other means than remove().
    if (!frame.isConnected) return remove();
    if (source !== frame.contentWindow || sender !== origin) return;
    if (typeof data === 'string') resized(data);
    else if (data && typeof data === 'object') heard(data);
  }

  let width = 0;
  let canResize = false;
  // The form is higher in a narrower frame; the script in it measures again when its host says so.
  const resizing = new ResizeObserver(() => {
    const isNew = frame.offsetWidth !== width;
    width = frame.offsetWidth;
    if (isNew && canResize) frame.contentWindow?.postMessage('[iFrameSizer]resize', origin);
  });

  function remove() {
    clearTimeout(timer);
    resizing.disconnect();
    window.removeEventListener('message', listen);
    frame.remove();
  }

  const timer = setTimeout(() => (frame.isConnected ? report('unreachable', {}) : remove()), patience);
  window.addEventListener('message', listen);
  element.append(frame);
  resizing.observe(frame);
  return { frame, remove };
}

/**
 * The colours of the page behind an element, as the query parameter `colorScheme` names them.
 * @param {Element} element
 * @returns {'auto' | 'auto-light' | 'auto-dark'} `auto` where the page follows the reader's device, as the form does by itself.
 */
function pageColors(element) {
  const device = window.matchMedia('(prefers-color-scheme: dark)').matches;
  const declared = getComputedStyle(element).colorScheme.split(' ');
  const both = declared.includes('light') && declared.includes('dark');
  const isDark = paintedDark(element) ?? (both ? device : declared.includes('dark'));
  if (both && isDark === device) return 'auto';
  return isDark ? 'auto-dark' : 'auto-light';
}

/** @param {Element} element @returns {boolean | undefined} whether the nearest background is dark; undefined if there is none. */
function paintedDark(element) {
  const context = Object.assign(document.createElement('canvas'), { width: 1, height: 1 }).getContext('2d', {
    willReadFrequently: true,
  });
  for (let at = /** @type {Element | null} */ (element); at && context; at = at.parentElement) {
    context.clearRect(0, 0, 1, 1);
    context.fillStyle = getComputedStyle(at).backgroundColor;
    context.fillRect(0, 0, 1, 1);
    const [red = 0, green = 0, blue = 0, alpha = 0] = context.getImageData(0, 0, 1, 1).data;
    // A background that lets half of what is behind it through does not decide.
    if (alpha > 127) return 0.2126 * red + 0.7152 * green + 0.0722 * blue < 128;
  }
  return undefined;
}
