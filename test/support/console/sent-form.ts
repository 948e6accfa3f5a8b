import { expect } from 'vitest';
import { lightFetch } from '../network/light-fetch.ts';
import type { ConsolePages } from './open-pages.ts';

export type Fields = [name: string, value: string][];

/** A page with a form, and the path that its form is sent to. */
interface PageWithForm {
  path: string;
  html: string;
}

/** What a browser without JavaScript would send of the form of a page, as the form stands. */
function fieldsOf(html: string): Fields {
  const [form = ''] =
    /<form[^>]*data-guard[\s\S]*?<\/form>/.exec(html) ??
    /<form class="form"[\s\S]*?<\/form>/.exec(html) ??
    [];
  const inputs = [...form.matchAll(/<input [^>]*>/g)].flatMap(([tag]): Fields => {
    const [, name = ''] = / name="([^"]*)"/.exec(tag) ?? [];
    const [, value = ''] = / value="([^"]*)"/.exec(tag) ?? [];
    const isChoice = /type="(radio|checkbox)"/.test(tag);
    return name && (!isChoice || tag.includes(' checked')) ? [[name, unescaped(value)]] : [];
  });
  const texts = [...form.matchAll(/<textarea [^>]*name="([^"]*)"[^>]*>\n?([\s\S]*?)<\/textarea>/g)].map(
    ([, name = '', value = '']): Fields[number] => [name, unescaped(value)],
  );
  const selects = [...form.matchAll(/<select [^>]*name="([^"]*)"[\s\S]*?<\/select>/g)].map(
    ([text, name = '']): Fields[number] => {
      const [, value = ''] = /<option value="([^"]*)" selected/.exec(text) ?? [];
      return [name, value];
    },
  );
  return [...inputs, ...texts, ...selects];
}

/** The fields of a form, with other values for some of them. */
export function changedFields(html: string, more: Fields): URLSearchParams {
  const changed = new Set(more.map(([name]) => name));
  return new URLSearchParams([...fieldsOf(html).filter(([name]) => !changed.has(name)), ...more]);
}

/** Sends the form of a page with other values for some fields. */
export function sendForm(
  pages: ConsolePages,
  { path, html }: PageWithForm,
  more: Fields = [],
): Promise<Response> {
  return lightFetch(new URL(path, pages.origin), {
    method: 'POST',
    headers: { Origin: pages.origin },
    body: changedFields(html, more),
    redirect: 'manual',
  });
}

/** Presses buttons that change the shape of a form, one after the other. @returns the last page. */
export async function pressAll(
  pages: ConsolePages,
  { path, html }: PageWithForm,
  ops: string[],
): Promise<string> {
  let page = html;
  for (const op of ops) {
    const response = await sendForm(pages, { path, html: page }, [['op', op]]);
    expect(response.status, op).toBe(200);
    page = await response.text();
  }
  return page;
}

/** References of the elements in the designer, in their order. */
export function elementsOf(html: string): string[] {
  return [...html.matchAll(/name="elements" value="([^"]+)"/g)].map(([, reference = '']) => reference);
}

function unescaped(text: string): string {
  const signs: Record<string, string> = { quot: '"', lt: '<', gt: '>', amp: '&' };
  return text.replace(/&(quot|lt|gt|amp);/g, (_, name: string) => signs[name] ?? '');
}
