// Pages for developers: copy buttons, the events of an embedded form, trying out operations. Every page reads without it.
(() => {
  for (const button of document.querySelectorAll('[data-copy]')) offerCopy(button);

  const list = document.querySelector('[data-events]');
  const names = ['ready', 'submitted', 'committed', 'cancelled', 'timeout', 'rollback', 'close', 'callback'];
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
  for (const note of document.querySelectorAll('[data-without-script]')) note.hidden = true;
  const signIn = document.querySelector('[data-sign-in]');
  if (signIn) offerSignIn(signIn);

  /** Copies the lines before a button, and says so to eyes and screen readers. Where that is not allowed, the lines are selected. */
  function offerCopy(button) {
    const lines = button.previousElementSibling;
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
        if (token) document.getElementById('authorization').value = token;
        output.textContent = token ? 'Signed in.' : 'These are not valid.';
      } catch {
        output.textContent = 'The issuer does not answer.';
      }
    });
  }

  /** Sends an operation as its form says, and shows the request as a curl line beside the reply. */
  function tryOut(form) {
    form.hidden = false;
    const output = form.querySelector('output');
    form.addEventListener('submit', async (event) => {
      event.preventDefault();
      const { method } = form.dataset;
      const url = new URL(filledPath(form), location.origin);
      for (const field of form.querySelectorAll('[data-in="query"]')) {
        if (field.value) url.searchParams.set(field.name, field.value);
      }
      const headers = requestHeaders(form);
      const body = form.querySelector('[data-in="body"]')?.value || undefined;
      const curl = curlLine(method, url, headers, body);
      try {
        const reply = await fetch(url, { method, headers, body, redirect: 'follow', credentials: 'omit' });
        show(output, curl, `${reply.status} ${reply.statusText}`.trim(), await replyText(reply));
      } catch {
        show(output, curl, 'No reply', 'The request could not be sent.');
      }
    });
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
    const credentials = document.getElementById('authorization')?.value.trim();
    if (credentials)
      headers.Authorization = /^(Bearer|Basic|Transaction) /i.test(credentials)
        ? credentials
        : `Bearer ${credentials}`;
    return headers;
  }

  function curlLine(method, url, headers, body) {
    const quoted = (text) => `'${text.replaceAll("'", `'\\''`)}'`;
    const parts = Object.entries(headers).map(([name, value]) => `-H ${quoted(`${name}: ${value}`)}`);
    return [
      'curl',
      '-i',
      '-X',
      method,
      quoted(String(url)),
      ...parts,
      ...(body ? ['-d', quoted(body)] : []),
    ].join(' ');
  }

  async function replyText(reply) {
    const text = await reply.text();
    try {
      return JSON.stringify(JSON.parse(text), null, 2);
    } catch {
      return text;
    }
  }

  function show(output, curl, status, text) {
    const line = document.createElement('pre');
    line.textContent = curl;
    const title = document.createElement('p');
    title.textContent = status;
    const body = document.createElement('pre');
    body.textContent = text;
    for (const block of [line, body]) block.tabIndex = 0;
    output.replaceChildren(line, title, body);
  }
})();
