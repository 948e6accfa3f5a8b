import type { Schemas } from '#lib/models/models-api.ts';
import type { InstanceClient } from '#lib/moving/instance-client.ts';
import { leaveOut, type NotCarried, noteMembers } from '#lib/moving/not-carried.ts';

const carried = ['id', 'name', 'emailAddress', 'defaultLanguage', 'creationTimestamp'];

/** The people of an instance. */
export function readSubjects(source: InstanceClient): AsyncGenerator<Schemas['Subject']> {
  return source.list('/subjects?limit=200');
}

/**
 * Brings the e-mail address and the language of people whose answers were taken over, where they are not
 * known yet. No person is created: one without an answer may have been erased here.
 */
export async function bringSubjects(
  source: InstanceClient,
  target: InstanceClient,
  { isDryRun, notCarried }: { isDryRun: boolean; notCarried: NotCarried },
): Promise<void> {
  for await (const subject of readSubjects(source)) {
    noteMembers(notCarried, 'subject', subject, carried);
    const { name, emailAddress, defaultLanguage } = subject;
    if (isDryRun || (!emailAddress && !defaultLanguage)) continue;
    const here = await target.findJson<Schemas['Subject']>(`/subjects/${encodeURIComponent(name)}`);
    const missing = {
      ...(emailAddress && !here?.emailAddress && { emailAddress }),
      ...(defaultLanguage && !here?.defaultLanguage && { defaultLanguage }),
    };
    if (!here) leaveOut(notCarried, 'people without an answer that was taken over');
    else if (Object.keys(missing).length > 0) await target.send('PUT', `/subjects/${here.id}`, missing);
  }
}
