/* The dialog that asks for the address of a link in a rich text. */
import { safeLink } from './rich-tree.js';

const dialog = document.getElementById('rich-link');
const form = dialog.querySelector('form');
const input = dialog.querySelector('input');
const fault = dialog.querySelector('.fault');
/** Whose selection gets the link. */
let editor;

/** Asks for the address of the link at the editor's selection, and sets or removes it. */
export function askLink(asking) {
  editor = asking;
  const { link } = editor;
  input.value = link?.getAttribute('href') ?? '';
  form.querySelector('[value="remove"]').hidden = link === null;
  showFault(false);
  dialog.returnValue = '';
  dialog.showModal();
  input.select();
}

function showFault(isShown) {
  fault.hidden = !isShown;
  input.ariaInvalid = String(isShown);
}

/** What was typed as an address: without a scheme it is a mail address or an https one. */
function typedAddress() {
  const typed = input.value.trim();
  if (typed === '' || typed === editor.placeholder || /^[a-z][a-z\d+.-]*:/i.test(typed)) return typed;
  return /^[^/]+@/.test(typed) ? `mailto:${typed}` : `https://${typed}`;
}

form.addEventListener('submit', (event) => {
  if (event.submitter?.value !== 'set' || safeLink(typedAddress(), editor.placeholder)) return;
  event.preventDefault();
  showFault(true);
  input.focus();
});

dialog.addEventListener('close', () => {
  if (dialog.returnValue === 'set') editor.setLink(safeLink(typedAddress(), editor.placeholder));
  else if (dialog.returnValue === 'remove') editor.squire.removeLink();
  else editor.squire.focus();
});
