window.Accord = { embed };

// <script src="…/assets/embed.js" data-target="#consent" data-src="TRANSACTION_URL"> embeds a form without further code.
const { currentScript } = document;
const { src, target, title, colorScheme } = currentScript?.dataset ?? {};
if (src) {
  const start = () => embed(target ?? currentScript.parentElement, src, { title, colorScheme });
  if (document.readyState === 'loading' && target && !document.querySelector(target)) {
    document.addEventListener('DOMContentLoaded', start, { once: true });
  } else start();
}
