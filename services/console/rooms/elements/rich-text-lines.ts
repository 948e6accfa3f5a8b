import { Parser } from 'htmlparser2';
import { richTextRules } from '#lib/contracts/rich-text.ts';

const blocks = new Set<string>(richTextRules.blocks);

/** The words of a rich text as people read them: a line for each paragraph and item, without markup. */
export function richTextLines(html: string): string {
  let text = '';
  const endLine = () => {
    if (text !== '' && !text.endsWith('\n')) text += '\n';
  };
  const parser = new Parser({
    onopentagname(name) {
      if (name === 'br') text += '\n';
      else if (blocks.has(name)) endLine();
      if (name === 'li') text += '• ';
    },
    ontext: (given) => {
      text += given.replaceAll(/\s+/g, ' ');
    },
    onclosetag(name) {
      if (blocks.has(name)) endLine();
    },
  });
  parser.end(html);
  return text
    .split('\n')
    .map((line) => line.trim())
    .join('\n')
    .trim();
}
