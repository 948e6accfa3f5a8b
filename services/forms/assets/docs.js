// Pages for developers: copy buttons, the events of an embedded form, trying out operations. Every page reads without it.
(() => {
  for (const button of document.querySelectorAll('[data-copy]')) offerCopy(button);

  const list = document.querySelector('[data-events]');
  const names = [
    'ready',
    'submitted',
    'committed',
    'cancelled',
    'timeout',
    'rollback',
    'close',
    'callback',
    'stay',
    'error',
    'unreachable',
  ];
  for (const name of list ? names : []) {
    document.querySelector(list.dataset.events).addEventListener(`accord:${name}`, (event) => {
      const item = document.createElement('li');
      const code = document.createElement('code');
      code.textContent = `accord:${name} ${JSON.stringify(event.detail)}`;
      item.append(code);
      list.append(item);
    });
  }

  for (const form of document.querySelectorAll('form[data-operation]')) tryOut(form);
  const authorization = document.getElementById('authorization');
  if (authorization) rememberInTab();
  addEventListener('hashchange', markPlace);
  markPlace();
  for (const note of document.querySelectorAll('[data-without-script]')) note.hidden = true;
  const signIn = document.querySelector('[data-sign-in]');
  if (signIn) offerSignIn(signIn);
  const filter = document.querySelector('[data-filter]');
  if (filter) offerFilter(filter);

  /** Copies the lines under a button, and says so to eyes and screen readers. Where that is not allowed, the lines are selected. */
  function offerCopy(button) {
    const lines = button.closest('.command').querySelector('pre');
    const status = document.querySelector('[data-copy-status]');
    const label = button.textContent;
    button.hidden = !navigator.clipboard;
    button.addEventListener('click', async () => {
      try {
        await navigator.clipboard.writeText(lines.textContent);
      } catch {
        getSelection().selectAllChildren(lines);
        return;
      }
      button.setAttribute('data-done', '');
      button.textContent = button.dataset.copied;
      if (status) status.textContent = button.dataset.copied;
      setTimeout(() => {
        button.removeAttribute('data-done');
        button.textContent = label;
        if (status) status.textContent = '';
      }, 2_000);
    });
  }

  /** Keeps the credentials and what replies told for the pages of other groups, until the tab is closed. */
  function rememberInTab() {
    authorization.value = sessionStorage.getItem('authorization') ?? '';
    authorization.addEventListener('change', () => authorize(authorization.value));
    for (const told of kept()) carry(told);
  }

  function kept() {
    return parsed(sessionStorage.getItem('told') ?? '[]') ?? [];
  }

  function authorize(credentials) {
    authorization.value = credentials;
    sessionStorage.setItem('authorization', credentials);
  }

  /** Marks the operation that the address names in the list; one of another group is opened there. */
  function markPlace() {
    const wanted = decodeURIComponent(location.hash.slice(1));
    for (const each of document.querySelectorAll('.reference-nav li a')) {
      const isHere = wanted !== '' && each.hash === `#${wanted}`;
      if (!isHere) each.removeAttribute('aria-current');
      else if (document.getElementById(wanted)) each.setAttribute('aria-current', 'location');
      else location.replace(each.href);
    }
    document.querySelector('.reference-nav [aria-current="location"]')?.scrollIntoView({ block: 'nearest' });
  }

  /** Fetches an access token of the built-in issuer and puts it where every request takes it from. */
  function offerSignIn(form) {
    form.hidden = false;
    const output = form.querySelector('output');
    form.addEventListener('submit', async (event) => {
      event.preventDefault();
      const fields = new URLSearchParams(new FormData(form));
      fields.set('grant_type', 'password');
      fields.set('client_id', form.dataset.client);
      try {
        const reply = await fetch(form.dataset.signIn, { method: 'POST', body: fields, credentials: 'omit' });
        const { access_token: token } = await reply.json();
        if (token) authorize(token);
        output.textContent = token ? 'Signed in.' : 'These are not valid.';
      } catch {
        output.textContent = 'The issuer does not answer.';
      }
    });
  }

  /** Sends an operation as its form says, and shows the request as a curl line above the reply. */
  function tryOut(form) {
    form.hidden = false;
    const examples = form.querySelector('[data-examples]');
    examples?.addEventListener('change', () => {
      form.querySelector('[data-in="body"]').value = examples.value;
    });
    form.addEventListener('submit', async (event) => {
      event.preventDefault();
      const { method } = form.dataset;
      const url = new URL(filledPath(form), location.origin);
      for (const field of form.querySelectorAll('[data-in="query"]')) {
        if (field.value) url.searchParams.set(field.name, field.value);
      }
      const headers = requestHeaders(form);
      const body = form.querySelector('[data-in="body"]')?.value || undefined;
      const request = { method, headers, body, redirect: 'follow', credentials: 'omit' };
      const curl = curlLine(method, url, headers, body);
      const begun = performance.now();
      try {
        const reply = await fetch(url, request);
        const text = await reply.text();
        const took = `${Math.round(performance.now() - begun)} ms`;
        const carried = reply.ok ? remember(form, parsed(text)) : [];
        const title = [`${reply.status} ${reply.statusText}`.trim(), `in ${took}`];
        if (reply.redirected) title.push(`from ${reply.url}`);
        if (carried.length > 0) title.push(`· filled into other requests: ${carried.join(', ')}`);
        const lines = [...reply.headers].map(([name, value]) => `${name}: ${value}`);
        show(form, title.join(' '), { Request: curl, Headers: lines.join('\n'), Body: pretty(text) });
      } catch {
        show(form, 'No reply. The request could not be sent.', { Request: curl });
      }
    });
  }

  /** Carries what a reply tells to the other forms of this page and, while the tab is open, of others. */
  function remember(form, reply) {
    const first = Array.isArray(reply) ? reply[0] : (reply?.values?.[0] ?? reply);
    const fields = [...form.querySelectorAll('[data-in="path"]')].map(({ name, value }) => [name, value]);
    const told = {
      operation: form.closest('article').id,
      path: form.dataset.path,
      fields,
      id: first?.id,
      name: first?.name,
      token: first?.token,
      isTransaction: first?.links?.subject !== undefined,
      accessToken: reply?.access_token,
      elements: Array.isArray(reply?.elements) ? reply.elements : undefined,
    };
    const others = kept().filter(({ operation }) => operation !== told.operation);
    sessionStorage.setItem('told', JSON.stringify([...others, told]));
    return carry(told);
  }

  /**
   * Fills what a reply told into the forms of other operations: the id of what was made or read into addresses below it, a transaction's
   * token into `t`, and the first answer allowed to each question into the answers. @returns names of what was filled in.
   */
  function carry(told) {
    const carried = new Set();
    const below = `${told.path.replace(/\/\{\w+\}$/, '')}/{`;
    for (const other of document.querySelectorAll('form[data-operation]')) {
      const { path } = other.dataset;
      const fill = (name, value) => {
        const field = other.querySelector(`[name="${name}"]:is([data-in="path"], [data-in="query"])`);
        if (!field || !value || other.closest('article').id === told.operation) return;
        field.value = value;
        carried.add(name);
      };
      // The name of the next part of an address that the reply's resource is the root of.
      const name = path.startsWith(below) && path.slice(below.length).split('}')[0];
      if (told.isTransaction) fill('txid', told.id);
      else if (name && name !== 'txid') fill(name, name === 'name' ? told.name : told.id);
      // What was asked for stays what is spoken of.
      for (const [field, value] of told.fields) {
        const root = told.path.split(`{${field}}`)[0];
        if (path.startsWith(`${root}{${field}}`) || field === 'txid') fill(field, value);
      }
      if (told.token) fill('t', told.token);
    }
    if (told.elements) carryAnswers(told.elements, carried);
    if (told.accessToken) {
      authorize(told.accessToken);
      carried.add('access token');
    }
    return [...carried];
  }

  function carryAnswers(elements, carried) {
    const field = document.querySelector('#submitAnswers [data-in="body"]');
    if (!field) return;
    const answers = elements.map(({ identifier, answers: allowed }) => [
      identifier,
      (allowed ?? ['']).slice(0, 1),
    ]);
    field.value = JSON.stringify(Object.fromEntries(answers), null, 2);
    carried.add('answers');
  }

  function filledPath(form) {
    return form.dataset.path.replace(/\{(\w+)\}/g, (_, name) =>
      encodeURIComponent(form.querySelector(`[data-in="path"][name="${name}"]`)?.value ?? ''),
    );
  }

  function requestHeaders(form) {
    const headers = {};
    for (const field of form.querySelectorAll('[data-in="header"]'))
      if (field.value) headers[field.name] = field.value;
    const type = form.querySelector('[data-in="body"]')?.dataset.type;
    if (type) headers['Content-Type'] = type;
    const credentials = authorization?.value.trim();
    if (credentials)
      headers.Authorization = /^(Bearer|Basic|Transaction) /i.test(credentials)
        ? credentials
        : `Bearer ${credentials}`;
    return headers;
  }

  function curlLine(method, url, headers, body) {
    const quoted = (text) => `'${text.replaceAll("'", `'\\''`)}'`;
    const parts = Object.entries(headers).map(([name, value]) => `-H ${quoted(`${name}: ${value}`)}`);
    const data = body ? ['-d', quoted(body)] : [];
    return ['curl', '-i', '-X', method, quoted(String(url)), ...parts, ...data].join(' ');
  }

  function parsed(text) {
    try {
      return JSON.parse(text);
    } catch {
      return undefined;
    }
  }

  function pretty(text) {
    const value = parsed(text);
    return value === undefined ? text : JSON.stringify(value, null, 2);
  }

  /** The title alone is announced; the blocks are there to be read. */
  function show(form, title, blocks) {
    form.querySelector('output').textContent = title;
    const reply = form.nextElementSibling;
    reply.hidden = false;
    reply.replaceChildren(
      ...Object.entries(blocks).flatMap(([name, text]) => {
        if (!text) return [];
        const heading = document.createElement('p');
        heading.className = 'hint';
        heading.textContent = name;
        const block = document.createElement('pre');
        block.textContent = text;
        block.tabIndex = 0;
        block.dataset.part = name.toLowerCase();
        return [heading, block];
      }),
    );
  }

  /** Shows the operations whose summary, method, address or group has every word that is entered. */
  function offerFilter(filter) {
    filter.hidden = false;
    const input = filter.querySelector('input');
    const status = filter.querySelector('[data-filter-status]');
    const items = [...document.querySelectorAll('[data-filter-text]')];
    const apply = () => {
      const words = input.value.toLowerCase().split(/\s+/).filter(Boolean);
      for (const item of items) item.hidden = !words.every((word) => item.dataset.filterText.includes(word));
      for (const group of document.querySelectorAll('[data-filter-group]'))
        group.hidden = !group.querySelector('li:not([hidden])');
      const shown = items.filter((item) => !item.hidden).length;
      status.textContent = words.length > 0 ? `${shown} of ${items.length} operations` : '';
    };
    input.addEventListener('input', apply);
    input.addEventListener('keydown', (event) => {
      if (event.key !== 'Escape') return;
      input.value = '';
      apply();
    });
  }
})();
