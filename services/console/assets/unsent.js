/*
 * A form that is sent after the end of its session, when no cookie tells whose it was, is kept in this tab until the same person has
 * signed in again. The server shows it then, as it does by itself if it knows the session (services/console/sessions).
 */
const place = 'accord-console-sent';
const { account, keep } = document.body.dataset;

// The next page of a person who is signed in ends the keeping, whatever it is.
if (account) {
  const sent = JSON.parse(sessionStorage.getItem(place) ?? 'null');
  sessionStorage.removeItem(place);
  const isAsked = new URLSearchParams(location.search).get('kept') === 'browser';
  if (isAsked && sent?.account === account && sent.path === location.pathname) send(sent);
}

function send({ path, fields }) {
  const form = Object.assign(document.createElement('form'), { method: 'post', action: keep, hidden: true });
  for (const [name, value] of Object.entries({ path, fields: JSON.stringify(fields) }))
    form.append(Object.assign(document.createElement('input'), { name, value }));
  document.body.append(form);
  form.submit();
}

document.addEventListener('submit', (event) => {
  const { target, submitter } = event;
  // Previews and dialogs save nothing; the page that htmx sends a form from stays open.
  if (event.defaultPrevented || target.method !== 'post' || submitter?.formTarget || !account) return;
  const isSecret = (name) => target.querySelector(`[type=password][name="${CSS.escape(name)}"]`) !== null;
  const fields = [...new FormData(target, submitter)].filter(
    ([name, value]) => typeof value === 'string' && !isSecret(name),
  );
  // Such as "Sign out".
  if (fields.length === 0) return;
  const path = new URL(submitter?.getAttribute('formaction') ?? target.getAttribute('action') ?? '', location)
    .pathname;
  try {
    sessionStorage.setItem(place, JSON.stringify({ account, path, fields }));
  } catch {
    // Larger than the browser allows: nothing is kept.
  }
});
