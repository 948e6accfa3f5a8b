import { describe, expect, it } from 'vitest';
import type { ReceiptPage } from '#lib/contracts/pages.ts';
import type { Drawn } from '../../services/forms/pages/page-model.ts';
import { pageText } from '../../services/forms/pages/page-text.ts';
import { renderer } from '../support/pages/page-renderer.ts';
import { samplePages } from '../support/pages/sample-pages.ts';
import { cpuOf } from '../support/run/cpu-growth.ts';

const sample = samplePages('en').receipt as Drawn<ReceiptPage>;
const [consent] = sample.receipt.consents as [ReceiptPage['receipt']['consents'][number]];

/** A receipt of conditions with these texts. */
function receiptOf(bodies: string[]): Drawn<ReceiptPage> {
  const consents = bodies.map((body, index) => ({
    ...consent,
    identifier: `element/conditions/conditions.${index}/1.0`,
    type: 'conditions' as const,
    options: [],
    texts: { title: `Conditions ${index}`, body },
  }));
  return { ...sample, receipt: { ...sample.receipt, consents, unanswered: [], peers: [] } };
}

const many = (body: string) => Array.from({ length: 10 }, (_, index) => `${body}<p>${index}</p>`);

describe('a page with many long texts', () => {
  it('takes no longer to be put together from texts with many tags than from texts with few', async () => {
    const [plain, marked] = [
      many(`<p>${'word '.repeat(19_000)}</p>`),
      many('<a href="https://a.example/b">a</a> '.repeat(2_400)),
    ];
    const spent: number[] = [];
    for (const bodies of [plain, marked]) {
      const model = receiptOf(bodies);
      // Writes the texts of all elements, which later pages share.
      await renderer.renderInTurns(model);
      const render = () => Buffer.from(renderer.render(model));
      spent.push(await cpuOf(() => Array.from({ length: 20 }, render)));
    }
    const [least = 0, most = 0] = spent;
    expect(most).toBeLessThan(2.5 * Math.max(8, least));
  });

  it('becomes plain text element by element, and others have their turn after each', async () => {
    const html = await renderer.renderInTurns(receiptOf(many('<p>a</p>')));
    let turns = 0;
    const count = () => {
      turns += 1;
      pending = setImmediate(count);
    };
    let pending = setImmediate(count);
    const text = await pageText(html);
    clearImmediate(pending);
    expect(turns).toBeGreaterThan(10);
    expect(text).toMatch(/Conditions 0.*Conditions 9/s);
  });
});
