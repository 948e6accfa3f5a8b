import type { Fault } from '#lib/errors/fail.ts';
import type { ModelType, VersionData } from './model.ts';
import { isSaid, type NoticeRule, noticeRules, type Texts } from './notice-rules.ts';

/** A point of the law or of good practice, and whether a version meets it. */
export interface NoticePoint {
  code: (typeof noticeCodes)[number];
  met: boolean;
  /** What is expected. */
  detail: string;
  /** JSON pointers of what lacks, in each language that lacks it; empty if the point is met. */
  pointers: string[];
}

/** The ids of all rules (docs/consent-as-code.md). */
export const noticeCodes = [...noticeRules.map(({ code }) => code), 'translations'] as const;

const rules: readonly (NoticeRule & Pick<NoticePoint, 'code'>)[] = noticeRules;

const contentsOf = (data: VersionData) => Object.entries(data) as [string, Texts][];

/**
 * What the law expects content to say, in every language, and that each text exists in all languages. It bars
 * nothing: an organisation may say it elsewhere.
 */
export function checkNotice(type: ModelType, data: VersionData): NoticePoint[] {
  const contents = contentsOf(data);
  const points = rules.flatMap((rule) => {
    const { code, member, detail, isMet, concerns = () => true } = rule;
    const concerned = rule.types.includes(type) ? contents.filter(([, content]) => concerns(content)) : [];
    if (concerned.length === 0) return [];
    const lacking = concerned.filter(([, content]) => !isMet(content));
    return [
      pointOf(
        code,
        detail,
        lacking.map(([language]) => pointerTo(language, member)),
      ),
    ];
  });
  if (contents.length < 2 || type === 'theme') return points;
  return [...points, pointOf('translations', 'has every text in every language', untranslated(contents))];
}

/**
 * The points that are not met and tell people something wrong, or nothing of what they have to know (GDPR,
 * articles 13(1)(c), (e) and 21). The API does not require them for an activation; the console does.
 * @returns one fault for each member and language.
 */
export function adviseOn(type: ModelType, data: VersionData): Fault[] {
  return contentsOf(data).flatMap(([language, content]) =>
    rules.flatMap(({ code, types, member, isMet, concerns = () => true, bars }) => {
      const isLacking = bars && types.includes(type) && concerns(content) && !isMet(content);
      return isLacking ? [{ pointer: pointerTo(language, member), code, detail: bars }] : [];
    }),
  );
}

function pointerTo(language: string, member: string): string {
  return `/data/${language}${member && '/'}${member}`;
}

function pointOf(code: NoticePoint['code'], detail: string, pointers: string[]): NoticePoint {
  return { code, met: pointers.length === 0, detail, pointers };
}

/** Texts that some languages have and others do not. */
function untranslated(contents: readonly [string, Texts][]): string[] {
  const members = new Set(contents.flatMap(([, content]) => Object.keys(content)));
  return [...members].flatMap((member) => {
    const isText = contents.some(
      ([, content]) => typeof content[member] === 'string' && isSaid(content[member]),
    );
    const lacking = contents.filter(([, content]) => !isSaid(content[member]));
    return isText ? lacking.map(([language]) => pointerTo(language, member)) : [];
  });
}
