import { describe, expect, it } from 'vitest';
import type { FormElement, FormPeer } from '#lib/contracts/form-content.ts';
import { renderer } from '../support/pages/page-renderer.ts';
import { type Element, parsePage } from '../support/pages/parse-page.ts';
import { sampleForm } from '../support/pages/sample-pages.ts';
import {
  type SampleLanguage,
  sampleElements,
  sampleInformation,
  sampleLanguages,
} from '../support/samples/sample-content.ts';

const html = '<img src=x onerror="alert(1)"><script>alert(2)</script><b>bold</b>';

/** An element as a peer owns it. */
function owned(owner: string, host: string, language: SampleLanguage = 'en'): FormElement {
  const { research } = sampleElements(language) as { research: FormElement };
  return { ...research, owner, identifier: `element/processing/study@${host}/1.0` };
}
const peer = (name: string, host: string, more: Partial<FormPeer> = {}): FormPeer => ({
  name,
  location: `https://${host}`,
  info: null,
  elements: [owned(name, host)],
  ...more,
});
function form(peers: FormPeer[], language: SampleLanguage = 'en') {
  const elements = peers.flatMap((each) => each.elements);
  return parsePage(renderer.render(sampleForm(language, elements, { peers })));
}
const sections = (page: ReturnType<typeof form>) =>
  page.tagged('section').filter(({ attribs }) => attribs.class === 'owner');
const names = (page: ReturnType<typeof form>, section: Element) =>
  page.elements
    .filter(({ name, attribs }) => name === 'input' && attribs.type === 'radio')
    .filter((input) => {
      for (let at: Element['parent'] = input.parent; at; at = at.parent) if (at === section) return true;
      return false;
    })
    .map(({ attribs }) => attribs.name);

describe("peers' questions on a page", () => {
  it('of two organisations with one name are two groups', () => {
    const page = form([peer('Lab', 'one.example'), peer('Lab', 'two.example')]);
    expect(sections(page).map((section) => [...new Set(names(page, section))])).toEqual([
      ['element/processing/study@one.example/1.0'],
      ['element/processing/study@two.example/1.0'],
    ]);
  });

  it.each(sampleLanguages)('say how old they are, where that is long (%s)', (language) => {
    const old = peer('Lab', 'lab.example', { asOf: '2025-05-02T06:30:00Z' });
    const [dated, fresh] = [form([old], language), form([peer('Lab', 'lab.example')], language)];
    const hints = (page: typeof dated) =>
      page
        .tagged('p')
        .filter(({ attribs, parent }) => attribs.class === 'hint' && parent === sections(page)[0]);
    expect(hints(dated)).toHaveLength(hints(fresh).length + 1);
    expect(dated.text()).toContain('2025');
  });

  it('show nothing of a peer as anything but text', () => {
    const info = sampleInformation('en');
    const content = {
      ...info.content,
      title: html,
      header: html,
      footer: html,
      scope: html,
      scopeVisible: true,
    };
    const element = owned(html, 'lab.example');
    const hostile = { ...element, content: { ...element.content, title: html, usage: html } } as FormElement;
    const page = form([peer(html, 'lab.example', { info: { ...info, content }, elements: [hostile] })]);
    expect(page.tagged('img')).toEqual([]);
    expect(page.tagged('script').every(({ attribs }) => attribs.src?.startsWith('/assets/'))).toBe(true);
    expect(page.skeleton.join()).not.toMatch(/\bon[a-z]+/);
    const bold = [...page.tagged('b'), ...page.tagged('strong')].filter((each) => page.text(each) === 'bold');
    expect(bold).toHaveLength(2);
  });
});
