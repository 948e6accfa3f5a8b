/*
 * The text editor over each textarea with rich text: Squire with a toolbar. The textarea stays the form's field
 * and is changed by what is typed alone, so a text that is only looked at is saved byte for byte.
 */
import { askLink } from './rich-link.js';
import { copyRich, isSameTree, parseRich } from './rich-tree.js';

const { Squire } = window;
const { content: parts } = document.getElementById('rich-tools');
const editors = new Set();

/** What the buttons do; `isOn` is whether the selection has it already. */
const commands = {
  bold: (squire, isOn) => (isOn ? squire.removeBold() : squire.bold()),
  italic: (squire, isOn) => (isOn ? squire.removeItalic() : squire.italic()),
  bullets: (squire, isOn) => (isOn ? squire.removeList() : squire.makeUnorderedList()),
  numbers: (squire, isOn) => (isOn ? squire.removeList() : squire.makeOrderedList()),
  quote: (squire, isOn) => (isOn ? squire.removeQuote() : squire.increaseQuoteLevel()),
  heading: (squire, isOn) => {
    squire.modifyBlocks((selected) => {
      const [from, to] = isOn ? ['h1, h2, h3, h4, h5, h6', 'p'] : ['p:not(li p)', 'h2'];
      for (const block of selected.querySelectorAll(from)) {
        const made = document.createElement(to);
        for (const { name, value } of block.attributes) made.setAttribute(name, value);
        made.append(...block.childNodes);
        block.replaceWith(made);
      }
      return selected;
    });
    squire.focus();
  },
};

/** Whether a block of the selection has what a button does. */
const blockStates = {
  heading: (block) => /^H[1-6]$/.test(block.nodeName),
  bullets: (block) => block.closest('ul, ol')?.localName === 'ul',
  numbers: (block) => block.closest('ul, ol')?.localName === 'ol',
  quote: (block) => block.closest('blockquote') !== null,
};

class RichEditor {
  constructor(field) {
    this.field = field;
    this.placeholder = field.dataset.link;
    this.box = parts.querySelector('.rich').cloneNode(true);
    this.bar = this.box.querySelector('[role="toolbar"]');
    this.note = this.box.querySelector('[role="status"]');
    this.text = this.box.querySelector('[role="textbox"]');
    this.hint = document.getElementById(`${field.id}-hint`);
    this.label(field);
    field.before(this.box);
    this.listenToBar();
    this.squire = this.createSquire();
    this.show();
  }

  label({ id, lang, labels: [label], dataset, ariaInvalid }) {
    this.id = id;
    label.id = `${id}-label`;
    label.addEventListener('click', () => !this.text.hidden && this.squire.focus());
    this.bar.ariaLabel = `${this.bar.ariaLabel}: ${label.textContent.trim()}`;
    this.text.setAttribute('aria-labelledby', label.id);
    this.text.dir = dataset.rich;
    this.text.lang = lang;
    if (ariaInvalid !== 'true') return;
    this.text.ariaInvalid = 'true';
    this.text.setAttribute('aria-describedby', `${id}-fault`);
  }

  createSquire() {
    // Before Squire's own handler.
    this.box.addEventListener('beforeinput', (event) => this.format(event), true);
    const squire = new Squire(this.text, {
      blockTag: 'P',
      addLinks: false,
      didError: reportError,
      sanitizeToDOMFragment: (html) =>
        copyRich(parseRich(html), document.createDocumentFragment(), this.placeholder),
    });
    // Tab leaves the text; the others do what no button does.
    for (const key of ['Tab', 'Shift-Tab', 'PageUp', 'PageDown']) squire.setKeyHandler(key, null);
    for (const key of ['d', '[', ']'])
      for (const modifier of ['Ctrl-', 'Meta-']) squire.setKeyHandler(modifier + key, null);
    squire.addEventListener('input', () => this.write());
    for (const event of ['pathChange', 'select', 'cursor', 'input'])
      squire.addEventListener(event, () => this.showStates());
    return squire;
  }

  /**
   * Formats by the browser's own commands. Keyboards of other scripts give Ctrl+B as such a command, which
   * Squire does not take away again. Rich text has no fonts, colours and alignment.
   */
  format(event) {
    if (!/^format(?!Underline|Remove)/.test(event.inputType)) return;
    event.preventDefault();
    event.stopPropagation();
    const tool = { formatBold: 'bold', formatItalic: 'italic' }[event.inputType];
    if (tool) this.use(tool);
  }

  /** Opens the text, or leaves it as HTML if the editor would change it. */
  show() {
    const html = this.field.value;
    this.squire.setHTML(html);
    this.opened = { html, text: this.read() };
    this.known = html;
    this.setMode(isSameTree(html, this.opened.text));
    if (this.text.hidden) this.note.textContent = this.note.dataset.stays;
  }

  /** @param isText false: the HTML is shown. */
  setMode(isText) {
    // Links to faults, and the focus that follows them, lead to what is shown.
    (isText ? this.field : this.text).removeAttribute('id');
    (isText ? this.text : this.field).id = this.id;
    this.field.hidden = isText;
    this.text.hidden = !isText;
    if (this.hint) this.hint.hidden = isText;
    this.note.textContent = '';
    for (const button of this.bar.children) {
      const isHtml = button.dataset.tool === 'html';
      button.disabled = !isText && !isHtml;
      button.ariaPressed = String(isHtml && !isText);
      button.tabIndex = button.dataset.tool === (isText ? 'bold' : 'html') ? 0 : -1;
    }
  }

  /** The text as HTML, a line for each block; blank lines at the end are only a place to type. */
  read() {
    const out = document.createElement('template');
    copyRich(this.text, out.content, this.placeholder);
    const { children } = out.content;
    const isBlank = (block) => block?.localName === 'p' && block.textContent.trim() === '';
    while (isBlank([...children].at(-1))) [...children].at(-1).remove();
    for (const block of [...children].slice(1)) block.before('\n');
    return out.innerHTML;
  }

  write() {
    if (this.text.hidden) return;
    const text = this.read();
    const html = text === this.opened.text ? this.opened.html : text;
    if (html === this.field.value) return;
    this.field.value = html;
    this.known = html;
    this.field.dispatchEvent(new Event('input', { bubbles: true }));
  }

  /** The link at the selection, or the first in it. */
  get link() {
    const selection = this.squire.getSelection();
    const links = [...this.text.querySelectorAll('a')];
    return links.find((link) => selection.intersectsNode(link)) ?? null;
  }

  isOn(tool) {
    if (tool === 'bold' || tool === 'italic') return this.squire.hasFormat(tool === 'bold' ? 'B' : 'I');
    if (tool === 'link') return this.link !== null;
    const blocks = [];
    this.squire.forEachBlock((block) => void blocks.push(block), false);
    return blocks.length > 0 && blocks.every(blockStates[tool]);
  }

  showStates() {
    if (!this.box.contains(document.activeElement)) return;
    for (const button of this.bar.children)
      if (button.dataset.tool !== 'html') button.ariaPressed = String(this.isOn(button.dataset.tool));
  }

  listenToBar() {
    // The selection stays where it is.
    this.bar.addEventListener('mousedown', (event) => event.preventDefault());
    this.bar.addEventListener('click', ({ target }) => {
      const button = target.closest('button');
      if (!button) return;
      this.reach(button);
      this.use(button.dataset.tool);
    });
    this.bar.addEventListener('keydown', (event) => {
      const buttons = [...this.bar.querySelectorAll('button:enabled')];
      const at = buttons.indexOf(document.activeElement);
      const isRtl = getComputedStyle(this.bar).direction === 'rtl';
      const next = isRtl ? 'ArrowLeft' : 'ArrowRight';
      const previous = isRtl ? 'ArrowRight' : 'ArrowLeft';
      const to = { [next]: (at + 1) % buttons.length, [previous]: at - 1, Home: 0, End: -1 }[event.key];
      if (to === undefined) return;
      event.preventDefault();
      this.reach(buttons.at(to));
      buttons.at(to).focus();
    });
  }

  /** Moves the tab stop of the toolbar to a button (roving tabindex). */
  reach(button) {
    for (const each of this.bar.children) each.tabIndex = each === button ? 0 : -1;
  }

  use(tool) {
    if (tool === 'link') return askLink(this);
    if (tool !== 'html') return commands[tool](this.squire, this.isOn(tool));
    if (this.field.hidden) {
      this.setMode(false);
      return this.field.focus();
    }
    this.show();
    if (!this.text.hidden) this.squire.focus();
  }

  setLink(address) {
    const { link, squire } = this;
    if (link && squire.getSelection().collapsed) {
      const whole = document.createRange();
      whole.selectNodeContents(link);
      squire.setSelection(whole);
    }
    squire.makeLink(address);
  }
}

/** Opens the texts that are new on the page, and forgets those that a fetched part has replaced. */
function openTexts() {
  for (const editor of editors) {
    if (editor.box.isConnected) continue;
    editor.squire.destroy();
    editors.delete(editor);
  }
  for (const field of document.querySelectorAll('textarea[data-rich]'))
    if (!field.closest('.field').querySelector('.rich')) editors.add(new RichEditor(field));
}

openTexts();
document.addEventListener('htmx:after:swap', openTexts);
// The browser may have put back what was typed before the page was left.
addEventListener('pageshow', () => {
  for (const editor of editors) if (editor.field.value !== editor.known) editor.show();
});
