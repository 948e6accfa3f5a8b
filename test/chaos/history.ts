/** Answers by the element's key. */
export type Answers = Record<string, string>;

/** What a client was told about one request; `unknown` if the reply never came. */
export type Told = 'acknowledged' | 'refused' | 'unknown';

/** One line of a client's own history. A request that is sent again keeps its number. */
export type Line = { request: number; told: Told } & Deed;

/** What a request is to do. `id` is known when it is done, or before. */
export type Deed =
  | { kind: 'create'; subject: string; id?: string }
  | { kind: 'submit'; id: string; answers: Answers }
  | { kind: 'cancel'; id: string }
  | { kind: 'child'; parent: string; subject: string; id?: string }
  | { kind: 'single step'; subject: string; answers: Answers; id?: string };

/** What clients were told, in the order in which they were told. */
export type History = readonly Line[];
