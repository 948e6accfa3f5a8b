/*
 * Trees of rich text: what a text may contain, and whether two are the same. The rules are the API's, from the
 * page (lib/contracts/rich-text.ts).
 */
const tools = document.getElementById('rich-tools');
const rules = JSON.parse(tools.dataset.rules);
const blocks = new Set(rules.blocks);
const allowed = new Set([...rules.blocks, ...rules.inline]);

/** Elements whose content is not text. */
const dropped = new Set(
  'head iframe math noscript object option script style svg template textarea title'.split(' '),
);

/** Names of elements that mean the same; Squire writes the former. */
const standardNames = { b: 'strong', i: 'em' };

/**
 * Parses HTML in a document that loads and runs nothing. Attributes `style` get another name: Chromium reports
 * them as violations of the page's policy even there.
 */
export function parseRich(html) {
  const template = document.createElement('template');
  template.innerHTML = html.replaceAll(/(?<=[\s"'/])(?=style\s*=)/gi, renamed);
  return template.content;
}

const renamed = 'data-renamed-';

/** A text or an attribute as it was before it was parsed. */
function original(text) {
  return text.replaceAll(/data-renamed-(?=style\s*=)/gi, '');
}

/** The URL that a link may have, else null. @param placeholder allowed instead of a URL. */
export function safeLink(address, placeholder) {
  if (address && address === placeholder) return address;
  const url = URL.canParse(address) ? new URL(address) : null;
  const isSafe = url && rules.schemes.some((scheme) => url.protocol === `${scheme}:`);
  return isSafe && !url.username && !url.password ? url.href : null;
}

/** Copies into `to` what rich text may contain of `from`; the rest is replaced with its own content. */
export function copyRich(from, to, placeholder) {
  for (const node of from.childNodes) {
    if (node.nodeType === Node.TEXT_NODE)
      to.append(textOf(node, to.closest?.('pre')).replaceAll('\u200b', ''));
    else if (node.nodeType === Node.ELEMENT_NODE && !dropped.has(node.localName))
      copyRich(node, copyElement(node, to, placeholder), placeholder);
  }
  return to;
}

/** @returns where the content of the element goes. */
function copyElement(node, to, placeholder) {
  const style = node.getAttribute(`${renamed}style`) ?? '';
  let name = standardNames[node.localName] ?? node.localName;
  const attributes = [...rules.attributes, ...(rules.attributesOf[name] ?? [])].filter((each) =>
    node.hasAttribute(each),
  );
  // Pages show a div of text as a paragraph, and the content of another.
  if (name === 'div' && attributes.length === 0) name = holdsBlocks(node) ? '' : 'p';
  // Word processors on the web write <b style="font-weight: normal"> around all, and bold text as spans.
  if (name === 'strong' && /font-weight:\s*(normal|400)/.test(style)) name = '';
  if (name === 'span' && attributes.length === 0) {
    const isBold = /font-weight:\s*(bold|[6-9]00)/.test(style);
    const isItalic = /font-style:\s*italic/.test(style);
    const within = isBold ? to.appendChild(document.createElement('strong')) : to;
    return isItalic ? within.appendChild(document.createElement('em')) : within;
  }
  if (!allowed.has(name)) return to;
  const copy = to.appendChild(document.createElement(name));
  for (const each of attributes) copy.setAttribute(each, node.getAttribute(each));
  if (name === 'a' && safeLink(node.getAttribute('href'), placeholder))
    copy.setAttribute('href', original(node.getAttribute('href')));
  return copy;
}

function holdsBlocks(node) {
  return [...node.querySelectorAll('*')].some(({ localName }) => blocks.has(localName));
}

/**
 * Whether two texts have the same tree: `b` is `strong`, `i` is `em`, text beside blocks is a paragraph, and
 * white space is as pages show it.
 */
export function isSameTree(html, other) {
  const tree = parseRich(html);
  // Lines of a text without tags are shown as lines.
  if (tree.children.length === 0 && /\n/.test(tree.textContent.trim())) return false;
  return outlineOf(tree) === outlineOf(parseRich(other));
}

function outlineOf(parent, { isPre = false, isRoot = true } = {}) {
  const parts = [];
  let line = '';
  const endLine = () => {
    const text = isPre ? line : line.replace(/^ | $/g, '');
    if (text) parts.push({ text, isBlock: false });
    line = '';
  };
  const visit = (node) => {
    if (node.nodeType === Node.TEXT_NODE) line += escaped(textOf(node, isPre));
    if (node.nodeType !== Node.ELEMENT_NODE) return;
    const isDiv = node.localName === 'div' && node.attributes.length === 0;
    if (isDiv && holdsBlocks(node)) {
      endLine();
      node.childNodes.forEach(visit);
      return endLine();
    }
    const name = isDiv ? 'p' : (standardNames[node.localName] ?? node.localName);
    const attributes = [...node.attributes].map(({ name, value }) => ` ${name}=${JSON.stringify(value)}`);
    const content = outlineOf(node, { isPre: isPre || name === 'pre', isRoot: false });
    const text = `<${name}${attributes.sort().join('')}>${content}</${name}>`;
    if (!blocks.has(name)) line += text;
    else {
      endLine();
      parts.push({ text, isBlock: true });
    }
  };
  parent.childNodes.forEach(visit);
  endLine();
  const isFlow = isRoot || parts.some(({ isBlock }) => isBlock);
  return parts.map(({ text, isBlock }) => (isBlock || !isFlow ? text : `<p>${text}</p>`)).join('');
}

function textOf(node, isPre) {
  const data = original(node.data);
  return isPre ? data : data.replaceAll(/[ \t\n\r\f]+/g, ' ');
}

function escaped(text) {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;');
}
