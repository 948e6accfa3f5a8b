import type { Context } from 'koa';
import type { ConsoleReader } from '../pages/console-reader.ts';
import type { FieldSpec } from '../pages/form.ts';
import type { Change } from '../pages/text-diff.ts';
import type { RoomTools } from '../pages/tools.ts';
import type { EndingText } from './endings.ts';
import type { Entry, FoundModel, Version } from './read-model.ts';

/** What the pages of entries need of the room they are in: elements and forms are entries of other types. */
export interface ModelRoom<Type extends Entry['type']> {
  /** Prefix of its words, and what messages about one of its entries begin with. */
  words: 'elements' | 'forms';
  one: 'element' | 'form';
  types: readonly Type[];
  find(ctx: Context, tools: RoomTools): Promise<FoundModel<Type>>;
  /** What differs between two versions. @param before undefined: everything is new. */
  compare(
    ctx: Context,
    tools: RoomTools,
    entry: FoundModel<Type>['entry'],
    versions: { before: Version | undefined; after: Version },
  ): Promise<Change[]>;
  /** The fields of the editor, to name those that the faults of a version concern. */
  fieldsOf(reader: ConsoleReader, entry: FoundModel<Type>['entry'], version: Version): FieldSpec[];
  /** What an end means, beside its usual sentence. */
  describeEnding?(
    ctx: Context,
    tools: RoomTools,
    ending: { act: 'archive' | 'discard' | 'delete'; entry: FoundModel<Type>['entry'] },
  ): Promise<EndingText | undefined>;
}
