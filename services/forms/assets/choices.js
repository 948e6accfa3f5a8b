// A link from the page of another organisation names a part of answers in the fragment (docs/choices.md). Browsers do not send
// fragments, so the part goes to this instance only with the button. Without JavaScript the address is entered.
(() => {
  // The page in another language is told of the same part.
  const languages = document.querySelectorAll('.languages a');
  const form = document.querySelector('[data-from]');
  const show = () => {
    const [, part] = /^#from=([1-9A-HJ-NP-Za-km-z]{22})$/.exec(location.hash) ?? [];
    form.elements.from.value = part ?? '';
    form.hidden = part === undefined;
    for (const link of languages) link.hash = part === undefined ? '' : location.hash;
    // The address is the other way then.
    form.nextElementSibling.querySelector('button').classList.toggle('primary', form.hidden);
  };
  if (!form) return;
  show();
  window.addEventListener('hashchange', show);
})();
