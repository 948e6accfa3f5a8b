import type { LayoutContent } from './layout-content.ts';
import type { ModelType, VersionData } from './model.ts';

/** What a layout names, by key or id; nothing for other types. Layouts name the same in every language. */
export function layoutUses(type: ModelType, data: VersionData): string[] {
  if (type !== 'layout') return [];
  const [content] = Object.values(data) as unknown as LayoutContent[];
  if (!content) return [];
  const { info, elements, theme, notification } = content;
  return [...new Set([info, ...elements, theme, notification].filter((each) => each !== undefined))];
}
