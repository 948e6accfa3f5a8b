import { expect, it } from 'vitest';
import { richTextLines } from '../../services/console/rooms/elements/rich-text-lines.ts';

it.each([
  ['<p>Dear patient,</p><p>we <strong>ask</strong> you.</p>', 'Dear patient,\nwe ask you.'],
  ['<ul><li>one</li><li>two &amp; three</li></ul>after', '• one\n• two & three\nafter'],
  ['one<br>two', 'one\ntwo'],
  ['just  a\ntext', 'just a text'],
  ['', ''],
])('a rich text is read as lines of words: %s', (html, lines) => {
  expect(richTextLines(html)).toBe(lines);
});
